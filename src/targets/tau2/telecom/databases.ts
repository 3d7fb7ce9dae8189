import { type Database, modelDatabase } from '../database.js';
import { validate } from '../python/schema.js';
import type { Dict } from '../python/value.js';
import { telecomDb } from './models.js';
import { telecomUserDb } from './user-models.js';

/** Reads the two databases once; every call of the result opens fresh ones. */
export function telecomDatabases(
  agentFile: Dict,
  userFile: Dict,
): () => { readonly agent: Database<object>; readonly user: Database<object> } {
  const agent = validate(telecomDb, agentFile);
  const user = validate(telecomUserDb, userFile);
  return () => ({
    agent: modelDatabase<object>(telecomDb, agent),
    user: modelDatabase<object>(telecomUserDb, user),
  });
}
