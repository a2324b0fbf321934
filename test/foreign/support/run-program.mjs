import { spawn } from 'node:child_process';

/**
 * Runs a program to its end, without stdin.
 *
 * @returns {Promise<{code: number | null, stdout: string, stderr: string}>} `code` is null when it was killed
 */
export function runProgram(file, args, { env, cwd, timeoutMs = 60_000 }) {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { env, cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`${file} ${args.join(' ')} did not end within ${timeoutMs / 1000} s`));
    }, timeoutMs);
    const [stdout, stderr] = [child.stdout, child.stderr].map((stream) => {
      const chunks = [];
      stream.on('data', (chunk) => chunks.push(chunk));
      return chunks;
    });
    child.once('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.once('close', (code) => {
      clearTimeout(timer);
      const text = (chunks) => Buffer.concat(chunks).toString('utf8');
      resolve({ code, stdout: text(stdout), stderr: text(stderr) });
    });
  });
}
