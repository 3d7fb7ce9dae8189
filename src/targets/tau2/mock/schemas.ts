import type { ToolSchema } from '../../../trajectory/trajectory.js';
import { choice, schema, TRANSFER, text } from '../tool-schema.js';

const task = text('Task id, such as task_1.');

/** The mock agent's tools, for a model. */
export const MOCK_SCHEMAS: readonly ToolSchema[] = [
  schema(
    'create_task',
    'Create a task for a user.',
    {
      user_id: text('User id, such as user_1.'),
      title: text('Title of the task.'),
      description: text('Description of the task.'),
    },
    ['description'],
  ),
  schema('get_users', 'List the users with their tasks.'),
  schema('update_task_status', 'Set the status of a task.', {
    task_id: task,
    status: choice('New status.', 'pending', 'completed'),
  }),
  TRANSFER,
];

/** The mock user's tools, for whoever plays it. */
export const MOCK_USER_SCHEMAS: readonly ToolSchema[] = [
  schema('check_notifications', 'Look at the inbox.'),
  schema('dismiss_notification', 'Mark a notification as read.', {
    notification_id: text('Notification id, such as notif_1.'),
  }),
];
