/** Ends a switch over a union: a case that was added and not handled fails to compile here. */
export function unreachable(value: never): never {
  throw new Error(`unhandled case: ${JSON.stringify(value)}`);
}
