/**
 * Longest text of a receipt, in bytes of UTF-8. Claude Code swaps a result of more than 50,000 characters for a file
 * preview, and a whole receipt has to stay within 64 KiB; this is below both.
 */
export const MAX_RECEIPT_TEXT_BYTES = 48 * 1024;
