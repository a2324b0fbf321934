/** Text of about a source file's shape, of exactly `bytes` bytes, ending in a line feed. The same every time. */
export function textOf(bytes, seed = 1) {
  const lines = [];
  let state = seed;
  let size = 0;
  while (size < bytes) {
    const words = [];
    for (let word = 0; word < 8; word += 1) {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      words.push(WORDS[state >>> 26]);
    }
    const line = `${words.join(' ')} ${state}\n`;
    lines.push(line);
    size += line.length;
  }
  return `${lines.join('').slice(0, bytes - 1)}\n`;
}

const WORDS = (
  'const value return import export function async await if else for while new class extends static ' +
  'session turn lease action receipt ledger run frame cursor file path text line byte index count ' +
  'true false null undefined throw error catch finally switch case break continue default typeof ' +
  'string number boolean object array map set promise readonly private public interface type enum'
).split(' ');
