// Tries what a sandboxed program must not be able to do, one thing a line: "name=ok" or "name=errno".
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static void say(const char *name, long result) {
  if (result >= 0) printf("%s=ok\n", name);
  else printf("%s=%s\n", name, strerrorname_np(errno));
  fflush(stdout);
}

static void try_family(const char *name, int family, int type) {
  int fd = socket(family, type, 0);
  say(name, fd);
  if (fd >= 0) close(fd);
}

static void try_unix(const char *name, const char *path, int abstract) {
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (fd < 0) { say(name, -1); return; }
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  size_t length = strlen(path);
  memcpy(address.sun_path + abstract, path, length);
  int result = connect(fd, (struct sockaddr *)&address, offsetof(struct sockaddr_un, sun_path) + abstract + length + !abstract);
  // Some programs take the whole field for an abstract name, the zeros behind it included.
  if (result < 0 && abstract) result = connect(fd, (struct sockaddr *)&address, sizeof address);
  say(name, result);
  close(fd);
}

static void try_tcp(const char *name, int port, int six) {
  int fd = socket(six ? AF_INET6 : AF_INET, SOCK_STREAM, 0);
  if (fd < 0) { say(name, -1); return; }
  if (six) {
    struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    say(name, connect(fd, (struct sockaddr *)&address, sizeof address));
  } else {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    say(name, connect(fd, (struct sockaddr *)&address, sizeof address));
  }
  close(fd);
}

static int in_child(int (*work)(void)) {
  pid_t pid = fork();
  if (pid == 0) _exit(work());
  int status = 0;
  waitpid(pid, &status, 0);
  return status;
}

#if defined(__x86_64__)
static int int80_socketcall(void) {
  long result = 102; // socketcall
  unsigned long arguments[3] = {AF_UNIX, SOCK_STREAM, 0};
  __asm__ volatile("int $0x80" : "+a"(result) : "b"(1L), "c"(arguments) : "memory");
  return 42;
}
static int x32_getpid(void) { syscall(0x40000000 + 39); return 42; }
#endif

static int attempt(char *what) {
  char *value = strchr(what, ':');
  if (value) *value++ = 0;
  if (!strcmp(what, "unix")) try_unix("unix", value, 0);
  else if (!strcmp(what, "abstract")) try_unix("abstract", value, 1);
  else if (!strcmp(what, "tcp4")) try_tcp("tcp4", atoi(value), 0);
  else if (!strcmp(what, "tcp6")) try_tcp("tcp6", atoi(value), 1);
  else if (!strcmp(what, "netlink")) try_family("netlink", AF_NETLINK, SOCK_RAW);
  else if (!strcmp(what, "vsock")) try_family("vsock", AF_VSOCK, SOCK_STREAM);
  else if (!strcmp(what, "packet")) try_family("packet", AF_PACKET, SOCK_RAW);
  else if (!strcmp(what, "alg")) try_family("alg", AF_ALG, SOCK_SEQPACKET);
  else if (!strcmp(what, "io_uring")) { char parameters[120] = {0}; say("io_uring", syscall(SYS_io_uring_setup, 4, parameters)); }
  else if (!strcmp(what, "userns")) say("userns", unshare(CLONE_NEWUSER));
  else if (!strcmp(what, "clone_userns")) {
    long pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
    if (pid == 0) _exit(0);
    say("clone_userns", pid);
  }
  else if (!strcmp(what, "clone3")) say("clone3", syscall(SYS_clone3, NULL, 0));
  else if (!strcmp(what, "setns")) { int fd = open("/proc/self/ns/net", O_RDONLY); say("setns", setns(fd, 0)); close(fd); }
  else if (!strcmp(what, "mount")) say("mount", mount("tmpfs", "/nonexistent/reins", "tmpfs", 0, NULL));
  else if (!strcmp(what, "fsopen")) say("fsopen", syscall(SYS_fsopen, "tmpfs", 0));
  else if (!strcmp(what, "open_tree")) say("open_tree", syscall(SYS_open_tree, AT_FDCWD, "/tmp", 0));
  else if (!strcmp(what, "chroot")) say("chroot", chroot("/tmp"));
  else if (!strcmp(what, "ptrace")) {
    pid_t pid = fork();
    if (pid == 0) { pause(); _exit(0); }
    say("ptrace", ptrace(PTRACE_SEIZE, pid, 0, 0));
    kill(pid, SIGKILL);
  }
  else if (!strcmp(what, "vm_readv")) { char b[1]; struct { void *p; size_t n; } v = {b, 1}; say("vm_readv", syscall(SYS_process_vm_readv, getpid(), &v, 1, &v, 1, 0)); }
  else if (!strcmp(what, "keyctl")) say("keyctl", syscall(SYS_keyctl, 0, -3, 1));
  else if (!strcmp(what, "bpf")) say("bpf", syscall(SYS_bpf, 5, NULL, 0));
  else if (!strcmp(what, "perf")) { char a[128] = {0}; a[4] = 128; say("perf", syscall(SYS_perf_event_open, a, 0, -1, -1, 0)); }
  else if (!strcmp(what, "tiocsti")) { char c = 'x'; say("tiocsti", syscall(SYS_ioctl, 0, 0x5412, &c)); }
  else if (!strcmp(what, "tiocsti_high")) { char c = 'x'; say("tiocsti_high", syscall(SYS_ioctl, 0, 0x5412 | (1L << 40), &c)); }
  else if (!strcmp(what, "tioclinux")) { char c = 0; say("tioclinux", syscall(SYS_ioctl, 0, 0x541c, &c)); }
  else if (!strcmp(what, "kill")) say("kill", kill(atoi(value), 0));
  else if (!strcmp(what, "mknod")) say("mknod", mknod(value, S_IFCHR | 0600, 0x103));
  else if (!strcmp(what, "write")) { int fd = open(value, O_WRONLY | O_CREAT | O_APPEND, 0600); if (fd >= 0 && write(fd, "x", 1) != 1) fd = -1; say("write", fd); }
  else if (!strcmp(what, "read")) { char b[64] = {0}; int fd = open(value, O_RDONLY); long n = fd < 0 ? -1 : read(fd, b, sizeof b - 1); say("read", n); if (n > 0) printf("content=%s\n", b); }
  else if (!strcmp(what, "writable")) say("writable", access(value, W_OK));
  else if (!strcmp(what, "dgram_pair")) { int p[2]; say("dgram_pair", socketpair(AF_UNIX, SOCK_DGRAM, 0, p)); }
  else if (!strcmp(what, "stat")) { struct stat b; say("stat", stat(value, &b)); }
  else if (!strcmp(what, "link")) { char b[128] = {0}; long n = readlink(value, b, sizeof b - 1); if (n < 0) say("link", n); else printf("link=%s\n", b); }
  else if (!strcmp(what, "cwd")) { char b[4096]; printf("cwd=%s\n", getcwd(b, sizeof b) ? b : "none"); }
  else if (!strcmp(what, "ro")) { struct statvfs b; if (statvfs(value, &b)) say("ro", -1); else printf("ro=%s\n", b.f_flag & ST_RDONLY ? "yes" : "no"); }
  else if (!strcmp(what, "tmpsize")) { struct statvfs b; if (statvfs(value, &b)) say("tmpsize", -1); else printf("tmpsize=%lu\n", (unsigned long)b.f_blocks); }
  else if (!strcmp(what, "status")) {
    char line[256];
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file)) if (!strncmp(line, value, strlen(value))) printf("status=%s", line);
    if (!file) say("status", -1);
  }
  else if (!strcmp(what, "fds")) { for (int fd = 3; fd < 1024; fd++) if (fcntl(fd, F_GETFD) >= 0) printf("fd=%d\n", fd); printf("fds=ok\n"); }
  else if (!strcmp(what, "sid")) printf("sid=%d\n", getsid(0));
#if defined(__x86_64__)
  else if (!strcmp(what, "int80")) { int s = in_child(int80_socketcall); printf("int80=%s\n", WIFSIGNALED(s) ? "killed" : "ok"); }
  else if (!strcmp(what, "x32")) { int s = in_child(x32_getpid); printf("x32=%s\n", WIFSIGNALED(s) ? "killed" : "ok"); }
#endif
  else { printf("%s=unknown\n", what); return 2; }
  return 0;
}

// Each attempt in a process of its own: one that succeeds changes nothing for the next.
int main(int argc, char **argv) {
  setvbuf(stdout, NULL, _IONBF, 0);
  for (int at = 1; at < argc; at++) {
    pid_t pid = fork();
    if (pid == 0) _exit(attempt(argv[at]));
    waitpid(pid, NULL, 0);
  }
  return 0;
}
