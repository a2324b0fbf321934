import { userInfo } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';
import { isInside } from '../../base/is-inside.ts';
import { ReinsError } from '../../base/reins-error.ts';
import { GENERATED_DIRECTORY } from '../../confine/command-request.ts';
import { SYSTEM_DIRECTORIES } from '../../confine/find-system-program.ts';

/** Where programs that a user has installed live; nothing of these makes a program run other code. */
export const TOOL_LOCATIONS: readonly string[] = [
  ...['JAVA_HOME', 'GOROOT', 'GOPATH', 'CARGO_HOME', 'RUSTUP_HOME', 'NVM_DIR', 'PYENV_ROOT'],
  ...['VOLTA_HOME', 'ASDF_DIR', 'ASDF_DATA_DIR', 'ANDROID_HOME', 'CONDA_PREFIX', 'VIRTUAL_ENV'],
  ...['DOTNET_ROOT', 'RBENV_ROOT', 'PNPM_HOME', 'BUN_INSTALL', 'DENO_INSTALL', 'SDKMAN_DIR'],
];

/** Variables that make programs load code, read other configuration, or print with another program. */
const REFUSED_NAMES = [
  /^(LD|DYLD|MALLOC|GCONV|LOCPATH|NLSPATH|GLIBC)(_|$)/,
  /^(GIT|SSH|GPG|NPM_CONFIG|YARN|PIP|CARGO|BUNDLE|RIPGREP|CLAUDE|ANTHROPIC|REINS|OPENAI|COREPACK)_/,
  /^(NODE_OPTIONS|NODE_PATH|NODE_EXTRA_CA_CERTS|BUN_BE_BUN|BUN_OPTIONS|DENO_.*)$/,
  /^(BASH_ENV|ENV|SHELLOPTS|BASHOPTS|PROMPT_COMMAND|PS4|IFS|CDPATH|ZDOTDIR|FPATH|BASH_FUNC_.*)$/,
  /^PYTHON(STARTUP|PATH|HOME|INSPECT|BREAKPOINT|WARNINGS|USERBASE|PYCACHEPREFIX|EXECUTABLE)$/,
  /^(PERL5LIB|PERL5OPT|PERL5DB|PERLLIB|RUBYLIB|RUBYOPT|GEM_HOME|GEM_PATH|LUA_.*|TCLLIBPATH)$/,
  /^(JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|CLASSPATH|MAVEN_OPTS|GRADLE_OPTS)$/,
  /^(RUSTC|RUSTDOC|RUSTFLAGS|RUSTC_WRAPPER|RUSTC_WORKSPACE_WRAPPER|GOFLAGS|CC|CXX|CFLAGS|LDFLAGS)$/,
  /^(PHP_INI_SCAN_DIR|PHPRC|R_PROFILE.*|R_ENVIRON.*|JULIA_.*|DOTNET_STARTUP_HOOKS|COR_.*|CORECLR_.*)$/,
  /^(PATH|HOME|SHELL|TMPDIR|USER|LOGNAME|EDITOR|VISUAL|PAGER|LESSOPEN|LESSCLOSE|MANPAGER|BROWSER)$/,
  /_(PRELOAD|PAGER|EDITOR|WRAPPER|ASKPASS|PROXY_COMMAND)$/,
];
const MAX_VALUE_BYTES = 32 * 1024;
const MAX_VARIABLES = 64;

/** There is no network: package managers take what they have, and say at once what they have not. */
const OFFLINE = {
  NPM_CONFIG_OFFLINE: 'true',
  NPM_CONFIG_AUDIT: 'false',
  NPM_CONFIG_FUND: 'false',
  NPM_CONFIG_UPDATE_NOTIFIER: 'false',
  PIP_DISABLE_PIP_VERSION_CHECK: '1',
  PIP_RETRIES: '0',
  CARGO_NET_OFFLINE: 'true',
  GOPROXY: 'off',
};

export interface EnvironmentSources {
  readonly home: string;
  /** The search path that the user works with. */
  readonly searchPath: string;
  readonly sessionDirectory: string;
  readonly toolLocations: Readonly<Record<string, string>>;
}

/** The whole environment of a command. Throws `environment_refused`, naming the variable. */
export function toCommandEnvironment(
  sources: EnvironmentSources,
  given: Readonly<Record<string, string>>,
): Record<string, string> {
  checkVariables(given);
  const user = userInfo().username;
  return {
    HOME: sources.home,
    PATH: toSearchPath(sources),
    USER: user,
    LOGNAME: user,
    SHELL: '/bin/sh',
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    NO_COLOR: '1',
    TMPDIR: '/tmp',
    PAGER: 'cat',
    GIT_PAGER: 'cat',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: join(GENERATED_DIRECTORY, 'gitconfig'),
    NPM_CONFIG_USERCONFIG: join(GENERATED_DIRECTORY, 'npmrc'),
    ...OFFLINE,
    ...sources.toolLocations,
    ...given,
  };
}

/** Absolute entries alone, none of them in the session's directory, and the system's own at the end. */
function toSearchPath(
  sources: Pick<EnvironmentSources, 'searchPath' | 'sessionDirectory'>,
): string {
  const inSession = (entry: string): boolean =>
    sources.sessionDirectory !== '/' && isInside(entry, sources.sessionDirectory);
  const entries = sources.searchPath
    .split(delimiter)
    .filter((entry) => isAbsolute(entry) && !inSession(entry));
  return [...new Set([...entries, ...SYSTEM_DIRECTORIES])].join(delimiter);
}

function checkVariables(given: Readonly<Record<string, string>>): void {
  const names = Object.keys(given);
  if (names.length > MAX_VARIABLES) {
    throw refused(`env has ${names.length} variables and the limit is ${MAX_VARIABLES}`);
  }
  for (const name of names) {
    const value = given[name] ?? '';
    if (!/^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(name)) {
      throw refused(`env.${name.slice(0, 50)} is no variable name`);
    }
    if (value.includes('\0') || Buffer.byteLength(value) > MAX_VALUE_BYTES) {
      throw refused(
        `the value of env.${name} has a zero byte or more than ${MAX_VALUE_BYTES} bytes`,
      );
    }
    if (REFUSED_NAMES.some((pattern) => pattern.test(name.toUpperCase()))) {
      throw refused(
        `env.${name} decides which code or configuration programs load, and is not taken from a call; where it is needed, put "env", "${name}=..." in front in argv`,
      );
    }
  }
}

function refused(what: string): ReinsError {
  const sentence = `${what[0]?.toUpperCase()}${what.slice(1)}`;
  return new ReinsError('environment_refused', `${sentence}.`);
}
