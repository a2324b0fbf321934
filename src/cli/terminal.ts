/** How stdout is to be written to. NO_COLOR and a pipe both mean plain text. */
export function describeTerminal(
  stream: NodeJS.WriteStream,
  env: Readonly<Record<string, string | undefined>>,
): { readonly colour: boolean; readonly columns: number } {
  const colour = stream.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
  return { colour, columns: stream.columns ?? 120 };
}
