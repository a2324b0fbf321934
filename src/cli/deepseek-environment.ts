import { isAbsolute, join } from 'node:path';
import { ReinsError } from '../base/reins-error.ts';
import {
  DEFAULT_BASE_URL,
  DEFAULT_MODELS,
  type DeepseekSettings,
} from '../deepseek/deepseek-settings.ts';
import { isKey, readKeyFile } from '../deepseek/read-key-file.ts';

/** How this gateway would ask DeepSeek. The key is looked for when it is needed. */
export interface DeepseekEnvironment {
  readonly baseUrl: string;
  readonly models: DeepseekSettings['models'];
  readonly key: string | null;
  readonly keyFile: string;
  /** Set when the key file is outside the state directory, which is protected as it is. */
  readonly protectedFile: string | null;
}

type Variables = Readonly<Record<string, string | undefined>>;

/** Throws `invalid_parameter`, naming the variable; a key is never shown. */
export function readDeepseekEnvironment(
  env: Variables,
  stateDirectory: string,
): DeepseekEnvironment {
  const key = read(env, 'REINS_DEEPSEEK_API_KEY');
  if (key !== undefined && !isKey(key)) {
    throw new ReinsError(
      'invalid_parameter',
      'REINS_DEEPSEEK_API_KEY has to be 8 to 1024 letters, digits and . _ ~ : + = -; correct or unset it.',
    );
  }
  const keyFile = read(env, 'REINS_DEEPSEEK_API_KEY_FILE');
  if (keyFile !== undefined && !isAbsolute(keyFile)) {
    throw new ReinsError(
      'invalid_parameter',
      'REINS_DEEPSEEK_API_KEY_FILE has to be the absolute path of a file; correct or unset it, and put a key itself into REINS_DEEPSEEK_API_KEY.',
    );
  }
  return {
    baseUrl: readBaseUrl(env),
    models: {
      flash: readModel(env, 'REINS_DEEPSEEK_FLASH_MODEL') ?? DEFAULT_MODELS.flash,
      pro: readModel(env, 'REINS_DEEPSEEK_PRO_MODEL') ?? DEFAULT_MODELS.pro,
    },
    key: key ?? null,
    keyFile: keyFile ?? join(stateDirectory, 'deepseek-api-key'),
    protectedFile: keyFile ?? null,
  };
}

/** With the key, or null where there is none. Throws `invalid_parameter` for a key file that is not as it has to be. */
export function toDeepseekSettings(environment: DeepseekEnvironment): DeepseekSettings | null {
  const key = environment.key ?? readKeyFile(environment.keyFile);
  if (key === null) return null;
  return { base_url: environment.baseUrl, api_key: key, models: { ...environment.models } };
}

/** The key goes over the line, so it is HTTPS, or a server on this computer. */
function readBaseUrl(env: Variables): string {
  const value = read(env, 'REINS_DEEPSEEK_BASE_URL') ?? DEFAULT_BASE_URL;
  const url = parseUrl(value);
  const isLocal = ['127.0.0.1', '[::1]', 'localhost'].includes(url?.hostname ?? '');
  const isGood =
    url !== null &&
    (url.protocol === 'https:' || (url.protocol === 'http:' && isLocal)) &&
    !/[?#]/.test(value) &&
    url.username === '' &&
    url.password === '';
  if (isGood) return value;
  throw new ReinsError(
    'invalid_parameter',
    'REINS_DEEPSEEK_BASE_URL has to be an https:// address, or an http:// address of this computer, without user, query or fragment; correct or unset it.',
  );
}

function parseUrl(value: string): URL | null {
  try {
    return new URL(value);
  } catch {
    return null;
  }
}

function readModel(env: Variables, name: string): string | undefined {
  const value = read(env, name);
  if (value === undefined || /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,99}$/.test(value)) return value;
  throw new ReinsError(
    'invalid_parameter',
    `${name} has to be a model name of at most 100 letters, digits and . _ : / -; correct or unset it.`,
  );
}

function read(env: Variables, name: string): string | undefined {
  const value = env[name];
  return value === undefined || value === '' ? undefined : value;
}
