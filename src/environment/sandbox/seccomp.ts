/**
 * A filter of system calls for the process inside bubblewrap: no children, no sockets, no signals, nothing that makes
 * namespaces, mounts or reaches into other processes. Threads stay possible, as Node cannot do without.
 *
 * Numbers: `arch/x86/entry/syscalls/syscall_64.tbl` and `include/uapi/asm-generic/unistd.h` of Linux; instructions:
 * `Documentation/networking/filter.rst`, `Documentation/userspace-api/seccomp_filter.rst`.
 */
const NUMBERS: Readonly<Record<string, { audit: number; clone: number; refused: readonly number[] }>> = {
  x64: {
    audit: 0xc000003e,
    clone: 56,
    refused: [
      // fork vfork; kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_send_signal pidfd_open
      57, 58, 62, 200, 234, 129, 297, 424, 434,
      // socket connect accept sendto sendmsg bind listen socketpair accept4
      41, 42, 43, 44, 46, 49, 50, 53, 288,
      // ptrace process_vm_readv process_vm_writev perf_event_open bpf userfaultfd personality
      101, 310, 311, 298, 321, 323, 135,
      // mount umount2 pivot_root chroot unshare setns open_by_handle_at name_to_handle_at
      165, 166, 155, 161, 272, 308, 304, 303,
      // add_key request_key keyctl memfd_create execveat io_uring_setup io_uring_enter io_uring_register
      248, 249, 250, 319, 322, 425, 426, 427,
      // shmget semget msgget mq_open init_module finit_module delete_module kexec_load
      29, 64, 68, 240, 175, 313, 176, 246,
    ],
  },
  arm64: {
    audit: 0xc00000b7,
    clone: 220,
    refused: [
      129, 130, 131, 138, 240, 424, 434, 198, 203, 202, 206, 211, 200, 201, 199, 242, 117, 270, 271, 241, 280,
      282, 92, 40, 39, 41, 51, 97, 268, 265, 264, 217, 218, 219, 279, 281, 425, 426, 427, 194, 190, 186, 180,
      105, 273, 106, 104,
    ],
  },
};

const CLONE3 = 435;
const CLONE_THREAD = 0x10000;
const EPERM = 1;
const ENOSYS = 38;
const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const refuseWith = (errno: number) => 0x00050000 | errno;

const LOAD = 0x20;
const EQUAL = 0x15;
const AT_LEAST = 0x35;
const ANY_BIT = 0x45;
const RETURN = 0x06;

/** The filter as `struct sock_filter[]`, little-endian; null where the numbers of this processor are not known. */
export function seccompFilter(architecture: string = process.arch): Buffer | null {
  const numbers = NUMBERS[architecture];
  if (!numbers) return null;
  const program: [code: number, jumpTrue: number, jumpFalse: number, k: number][] = [
    // `struct seccomp_data`: the number at 0, the architecture at 4, the first argument's low word at 16.
    [LOAD, 0, 0, 4],
    [EQUAL, 1, 0, numbers.audit],
    [RETURN, 0, 0, KILL],
    [LOAD, 0, 0, 0],
    // Numbers of the x32 interface.
    [AT_LEAST, 0, 1, 0x40000000],
    [RETURN, 0, 0, refuseWith(EPERM)],
    // The C library falls back to clone, whose flags can be seen.
    [EQUAL, 0, 1, CLONE3],
    [RETURN, 0, 0, refuseWith(ENOSYS)],
    ...numbers.refused.flatMap((number): typeof program => [
      [EQUAL, 0, 1, number],
      [RETURN, 0, 0, refuseWith(EPERM)],
    ]),
    [EQUAL, 0, 3, numbers.clone],
    [LOAD, 0, 0, 16],
    [ANY_BIT, 1, 0, CLONE_THREAD],
    [RETURN, 0, 0, refuseWith(EPERM)],
    [RETURN, 0, 0, ALLOW],
  ];
  const bytes = Buffer.alloc(program.length * 8);
  for (const [i, [code, jumpTrue, jumpFalse, k]] of program.entries()) {
    bytes.writeUInt16LE(code, i * 8);
    bytes.writeUInt8(jumpTrue, i * 8 + 2);
    bytes.writeUInt8(jumpFalse, i * 8 + 3);
    bytes.writeUInt32LE(k >>> 0, i * 8 + 4);
  }
  return bytes;
}
