import { type Database, modelDatabase } from '../database.js';
import {
  dict,
  type Infer,
  list,
  literal,
  model,
  optional,
  string,
  validate,
  withDefault,
} from '../python/schema.js';
import type { Dict } from '../python/value.js';

/** The mock domain's models. */

export const mockTask = model('Task', {
  task_id: string,
  title: string,
  description: optional(string),
  status: literal('pending', 'completed'),
});
export type MockTask = Infer<typeof mockTask>;

const user = model('User', { user_id: string, name: string, tasks: list(string) });
export type MockUser = Infer<typeof user>;

const mockDb = model('MockDB', { tasks: dict(mockTask), users: dict(user) }, 'forbid');

export const notification = model(
  'Notification',
  {
    notification_id: string,
    message: string,
    status: withDefault(literal('unread', 'read'), () => 'unread'),
    task_id: optional(string),
  },
  'forbid',
);
export type Notification = Infer<typeof notification>;

const userDb = model(
  'MockUserDB',
  { notifications: withDefault(dict(notification), () => new Map<string, Notification>()) },
  'forbid',
);

/** Reads the two databases once; every call of the result opens fresh ones. */
export function mockDatabases(
  agentFile: Dict,
  userFile: Dict,
): () => { readonly agent: Database<object>; readonly user: Database<object> } {
  const agent = validate(mockDb, agentFile);
  const userData = validate(userDb, userFile);
  return () => ({ agent: modelDatabase(mockDb, agent), user: modelDatabase(userDb, userData) });
}
