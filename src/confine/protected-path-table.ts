/** One kind of place that sessions neither read, search nor change; commands do not see it at all. */
export interface ProtectedEntry {
  /** Relative to the home directory with `~/`, absolute with `/`, or a file name pattern with `*` without any slash. */
  readonly pattern: string;
  readonly platform: 'any' | 'linux' | 'darwin';
  readonly reason: string;
  /** Whether the files below it are few enough to be recognised by inode as well, under any other name. */
  readonly byInode: boolean;
}

const credentials = (reason: string, ...patterns: readonly string[]): ProtectedEntry[] =>
  patterns.map((pattern) => ({ pattern, platform: 'any', reason, byInode: true }));
const places = (
  platform: ProtectedEntry['platform'],
  reason: string,
  ...patterns: readonly string[]
): ProtectedEntry[] => patterns.map((pattern) => ({ pattern, platform, reason, byInode: false }));

/** Data, not logic: what is hidden and why. */
export const PROTECTED_PATHS: readonly ProtectedEntry[] = [
  ...credentials('SSH keys', '~/.ssh'),
  ...credentials(
    'SSH host keys',
    '/etc/ssh/ssh_host_rsa_key',
    '/etc/ssh/ssh_host_ecdsa_key',
    '/etc/ssh/ssh_host_ed25519_key',
  ),
  ...credentials(
    'password hashes',
    '/etc/shadow',
    '/etc/gshadow',
    '/etc/shadow-',
    '/etc/gshadow-',
    '/etc/security/opasswd',
    '/etc/krb5.keytab',
    '/etc/sudoers',
    '/etc/sudoers.d',
  ),
  ...credentials('GnuPG keys', '~/.gnupg'),
  ...credentials(
    'cloud credentials',
    '~/.aws',
    '~/.azure',
    '~/.config/gcloud',
    '~/.kube',
    '~/.boto',
    '~/.vault-token',
    '~/.terraform.d',
    '~/.terraformrc',
    '~/.config/rclone',
    '~/.config/doctl',
  ),
  ...credentials(
    'container registry credentials',
    '~/.docker/config.json',
    '~/.config/containers/auth.json',
  ),
  ...credentials(
    'Git and forge credentials',
    '~/.netrc',
    '~/.git-credentials',
    '~/.config/git/credentials',
    '~/.config/gh',
    '~/.config/hub',
    '~/.config/glab-cli',
  ),
  ...credentials(
    'package registry credentials',
    '~/.npmrc',
    '~/.yarnrc',
    '~/.yarnrc.yml',
    '~/.config/pip',
    '~/.pip',
    '~/.pypirc',
    '~/.m2/settings.xml',
    '~/.m2/settings-security.xml',
    '~/.gradle/gradle.properties',
    '~/.nuget/NuGet',
    '~/.bundle/config',
    '~/.composer/auth.json',
    '~/.cargo/credentials',
    '~/.cargo/credentials.toml',
    '~/.gem/credentials',
  ),
  ...credentials(
    'shell and editor history',
    '~/.bash_history',
    '~/.zsh_history',
    '~/.python_history',
    '~/.node_repl_history',
    '~/.psql_history',
    '~/.mysql_history',
    '~/.lesshst',
    '~/.viminfo',
    '~/.local/share/fish/fish_history',
  ),
  ...places(
    'any',
    'state and credentials of an agent',
    '~/.claude',
    '~/.claude.json',
    '~/.codex',
    '~/.gemini',
    '~/.cursor',
    '~/.config/opencode',
  ),
  ...places(
    'any',
    'password store',
    '~/.password-store',
    '~/.config/op',
    '~/.config/Bitwarden',
    '~/.config/1Password',
    '*.kdbx',
  ),
  ...places('any', 'wallet', '~/.bitcoin', '~/.ethereum', '~/.electrum'),
  ...places(
    'any',
    'mail and browser profiles',
    '~/.mozilla',
    '~/.thunderbird',
    '~/.config/google-chrome',
    '~/.config/chromium',
    '~/.config/BraveSoftware',
    '~/.config/microsoft-edge',
  ),
  ...places('linux', 'key ring', '~/.local/share/keyrings', '~/.local/share/kwalletd', '~/.pki'),
  ...places(
    'linux',
    'run-time sockets and credentials',
    '/run/user',
    '/run/dbus',
    '/run/credentials',
    '/run/WSL',
    '/run/docker.sock',
    '/var/run/docker.sock',
    '/tmp/.X11-unix',
  ),
  ...places(
    'darwin',
    'macOS keychains and private data',
    '~/Library/Keychains',
    '/Library/Keychains',
    '~/Library/Cookies',
    '~/Library/Safari',
    '~/Library/Mail',
    '~/Library/Messages',
    '~/Library/Group Containers',
    '~/Library/Application Support/Google/Chrome',
    '~/Library/Application Support/Firefox',
    '~/Library/Application Support/com.apple.TCC',
    '/Library/Application Support/com.apple.TCC',
  ),
  ...places(
    'any',
    'secrets of a project',
    '.env',
    '.env.*',
    '*.pem',
    '*.tfstate',
    '*.tfstate.backup',
  ),
];

/** Files that match a pattern above by name and hold no secret: they are written to be shared. */
export const HARMLESS_NAMES: readonly string[] = [
  '.env.example',
  '.env.sample',
  '.env.template',
  '.env.dist',
  '.env.schema',
];

/** A place that may be read and not changed. */
interface WriteProtectedEntry {
  readonly pattern: string;
  readonly reason: string;
}

const unchanging = (reason: string, ...patterns: readonly string[]): WriteProtectedEntry[] =>
  patterns.map((pattern) => ({ pattern, reason }));

/**
 * What is put into these places runs later, outside of any session. A pattern without a slash stands for a file or
 * directory of that name anywhere.
 */
export const WRITE_PROTECTED_PATHS: readonly WriteProtectedEntry[] = [
  ...unchanging(
    'start-up file of a shell',
    '~/.bashrc',
    '~/.bash_profile',
    '~/.bash_login',
    '~/.bash_logout',
    '~/.profile',
    '~/.zshrc',
    '~/.zprofile',
    '~/.zshenv',
    '~/.zlogin',
    '~/.config/fish',
  ),
  ...unchanging(
    'programs that start by themselves',
    '~/.config/autostart',
    '~/.config/systemd',
    '~/Library/LaunchAgents',
    '~/Library/LaunchDaemons',
  ),
  ...unchanging('programs on the search path', '~/.local/bin', '~/bin'),
  ...unchanging('configuration of Git', '~/.gitconfig', '~/.config/git'),
  ...unchanging(
    'configuration that other programs run code from',
    '.vscode',
    '.idea',
    '.mcp.json',
    '.claude',
    '.envrc',
  ),
];
