/**
 * An error whose text is for a person: what is wrong, where, and how to mend it. The command line prints it
 * without a stack trace and ends with `exitCode`.
 */
export class TraceError extends Error {
  override readonly name: string = 'TraceError';

  constructor(
    message: string,
    /** What to do about it, a sentence or two. */
    readonly mend?: string,
    /** 1: the work failed; 2: wrong use or input. */
    readonly exitCode: 1 | 2 = 1,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Wrong use or wrong input: a field of the configuration, an option, a file that is no trajectory. */
export class InputError extends TraceError {
  override readonly name = 'InputError';

  constructor(message: string, mend?: string, options?: ErrorOptions) {
    super(message, mend, 2, options);
  }
}

/** The run was asked to stop (Ctrl-C, SIGTERM); what is finished stands. */
export class StoppedError extends TraceError {
  override readonly name = 'StoppedError';

  constructor(signal: string) {
    super(`stopped by ${signal}`, 'Run the same command again: it goes on from the last finished piece.');
  }
}

const FILE_SYSTEM: Readonly<Record<string, readonly [what: string, mend: string]>> = {
  ENOSPC: ['the disk is full', 'Free some space and run the same command again'],
  EDQUOT: ['the disk quota is used up', 'Free some space and run the same command again'],
  EFBIG: ['the file would be larger than the system allows', 'Raise the limit (`ulimit -f`) and run again'],
  EROFS: ['the file system is read-only', 'Work in a folder that can be written, and run again'],
  EACCES: ['permission denied', 'Give yourself access to it, or work in another folder, and run again'],
  EPERM: ['not permitted', 'Give yourself access to it, or work in another folder, and run again'],
  EMFILE: ['too many open files', 'Raise the limit (`ulimit -n`) and run again'],
  EIO: ['the disk reports an input/output error', 'Check the disk, and run again'],
};

/**
 * The error to show for whatever was thrown: file-system errors become a `TraceError` with the path and the mend
 * (nothing that was finished is lost by them: files are written whole), everything else is returned as it is.
 */
export function explainError(error: unknown): Error {
  if (error instanceof TraceError) return error;
  if (!(error instanceof Error)) return new Error(String(error));
  const { code, path } = error as NodeJS.ErrnoException;
  if (code === 'SQLITE_FULL' || code === 'SQLITE_IOERR_WRITE') {
    return fileSystemError('ENOSPC', 'the journal', error);
  }
  if (code === 'SQLITE_READONLY' || code === 'SQLITE_CANTOPEN') {
    return fileSystemError('EACCES', 'the journal', error);
  }
  if (code === undefined || !(code in FILE_SYSTEM)) return error;
  return fileSystemError(code, path ?? 'a file', error);
}

function fileSystemError(code: string, path: string, cause: Error): TraceError {
  const [what, mend] = FILE_SYSTEM[code]!;
  // Temporary names (`x.123.tmp`) mean nothing to a person: name the file that was to be written.
  const place = path.replace(/\.\d+\.tmp$/, '');
  return new TraceError(`${place}: ${what} (${code})`, `${mend}: what was finished is kept.`, 1, { cause });
}
