/** Whether a file name matches a pattern in which at most one `*` stands for any text. */
export function matchesName(name: string, pattern: string): boolean {
  const star = pattern.indexOf('*');
  if (star < 0) return name === pattern;
  const before = pattern.slice(0, star);
  const after = pattern.slice(star + 1);
  return (
    name.length >= before.length + after.length && name.startsWith(before) && name.endsWith(after)
  );
}
