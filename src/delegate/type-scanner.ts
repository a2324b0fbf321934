/** Finds the `type` of a JSON object whose text goes by and is not kept. */
export interface TypeScanner {
  write(bytes: Buffer): void;
  /** The string under the object's own key `type`; undefined if there is none, or more than one. */
  type(): string | undefined;
}

/** No key and no type of an event is as long. A longer string is skipped. */
const MAX_STRING_BYTES = 256;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;

/**
 * A pass over the bytes of one JSON object that holds no more than a short string. It follows strings and nesting and
 * checks nothing else: what it says of text that is not JSON means nothing.
 */
export function createTypeScanner(): TypeScanner {
  let depth = 0;
  let inString = false;
  let escaped = false;
  let string: number[] = [];
  let key: string | undefined;
  let atKey = false;
  const types: string[] = [];

  const endString = (): void => {
    if (depth !== 1) return;
    const text = string.length > MAX_STRING_BYTES ? '' : Buffer.from(string).toString('utf8');
    if (atKey) key = text;
    else if (key === 'type') types.push(text);
  };

  const take = (byte: number): void => {
    if (inString) {
      if (!escaped && byte === QUOTE) {
        inString = false;
        endString();
        return;
      }
      escaped = !escaped && byte === BACKSLASH;
      if (depth === 1 && string.length <= MAX_STRING_BYTES) string.push(byte);
      return;
    }
    switch (byte) {
      case QUOTE:
        inString = true;
        escaped = false;
        string = [];
        return;
      case COLON:
        if (depth === 1) atKey = false;
        return;
      case COMMA:
        if (depth === 1) atKey = true;
        return;
      case 0x7b: // {
      case 0x5b: // [
        depth += 1;
        if (depth === 1) atKey = true;
        return;
      case 0x7d: // }
      case 0x5d: // ]
        depth -= 1;
        return;
      default:
    }
  };

  return {
    write(bytes) {
      for (const byte of bytes) take(byte);
    },
    type: () => (types.length === 1 ? types[0] : undefined),
  };
}
