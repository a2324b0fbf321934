/** Whether `path` is `directory` or below it. Both are absolute and normalised; nothing is looked up. */
export function isInside(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory === '/' ? '/' : `${directory}/`);
}
