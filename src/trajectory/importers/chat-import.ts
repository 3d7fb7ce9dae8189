import { basename } from 'node:path';
import { guardRecord } from '../store.js';
import type { Trajectory } from '../trajectory.js';
import { isMessage } from './chat-conversation.js';
import { type ChatContext, readChatRecord } from './chat-record.js';
import { preparedChats, threadsFor } from './chat-threads.js';
import type { ImporterOptions, SourceSample } from './importer.js';
import { mapRecords, readRecords } from './records.js';
import { readSample, UnknownFormatError } from './sample.js';

/** Members of an outer object that may hold the conversations. */
const LISTS = ['trajectories', 'conversations', 'records', 'data', 'rows', 'items', 'episodes', 'results'];

/** A file whose records are the messages of one conversation. */
export function isOneConversation({ kind, records }: SourceSample): boolean {
  return (kind === 'array' || kind === 'lines') && records.length > 0 && records.every(isMessage);
}

/**
 * Conversations of a file, one a record; or the file itself as one conversation.
 * @param source name of the format.
 * @throws InvalidRecordError at a bad record unless `onInvalid` is given; JsonShapeError for a cut-off file.
 */
export async function* readChats(
  path: string,
  source: string,
  options: ImporterOptions,
): AsyncGenerator<Trajectory> {
  const context: ChatContext = {
    source,
    fileId: basename(path).replace(/\.(jsonl?|parquet)$/i, ''),
    passAt: options.passAt,
    trials: new Map(),
    ids: new Set(),
  };
  const sample = await readSample(path).catch((error: unknown) => {
    if (error instanceof UnknownFormatError) return null;
    throw error;
  });
  if (sample && isOneConversation(sample)) {
    const messages: unknown[] = [];
    for await (const record of readRecords(path, options)) {
      const message = guardRecord(path, record.number, () => ({ value: record.parse() }), options);
      if (message) messages.push(message.value);
    }
    const trajectory = guardRecord(path, 1, () => readChatRecord(messages, context), options);
    if (trajectory) yield trajectory;
    return;
  }
  if (options.onlyWritten && sample?.kind === 'lines' && threadsFor(path) > 0) {
    yield* preparedChats(path, context, options);
    return;
  }
  yield* mapRecords(path, { ...options, open: LISTS }, (value) => readChatRecord(value, context));
}
