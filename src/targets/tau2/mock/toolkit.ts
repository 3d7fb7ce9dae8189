import { validate } from '../python/schema.js';
import { equal, hashable, str, valueError } from '../python/value.js';
import { type Functions, parameters, Toolkit } from '../toolkit.js';
import { type MockTask, type MockUser, mockTask, type Notification, notification } from './models.js';

/** `rows[key]`, where a key that cannot be there is missing and an unhashable one raises. */
function find<T>(rows: Map<string, T>, key: unknown, what: string): T {
  const name = hashable(key);
  const found = name === null ? undefined : rows.get(name);
  if (!found) throw valueError(`${what} ${str(key)} not found`);
  return found;
}

/** The mock agent's tools. */
export class MockTools extends Toolkit {
  override readonly name = 'MockTools';
  override readonly functions = AGENT_FUNCTIONS as Functions<never>;

  get tasks(): Map<string, MockTask> {
    return this.part('tasks');
  }
  get users(): Map<string, MockUser> {
    return this.part('users');
  }
}

const AGENT_FUNCTIONS: Functions<MockTools> = {
  create_task: {
    type: 'write',
    parameters: parameters('user_id', 'title', 'description=None'),
    run(kit, userId, title, description) {
      const user = find(kit.users, userId, 'User');
      const id = `task_${kit.tasks.size + 1}`;
      const task = validate(
        mockTask,
        new Map<string, unknown>([
          ['task_id', id],
          ['title', title],
          ['description', description],
          ['status', 'pending'],
        ]),
      );
      kit.tasks.set(id, task);
      user.tasks.push(id);
      return task;
    },
  },
  get_users: { type: 'read', parameters: [], run: (kit) => [...kit.users.values()] },
  update_task_status: {
    type: 'write',
    parameters: parameters('task_id', 'status'),
    run(kit, id, status) {
      const task = find(kit.tasks, id, 'Task');
      // Not validated: any status is stored.
      task.status = status as MockTask['status'];
      return task;
    },
  },
  transfer_to_human_agents: {
    type: 'generic',
    parameters: parameters('summary'),
    run: () => 'Transfer successful',
  },
  assert_number_of_tasks: {
    parameters: parameters('user_id', 'expected_number'),
    run: (kit, id, expected) => equal(find(kit.users, id, 'User').tasks.length, expected),
  },
  assert_task_status: {
    parameters: parameters('task_id', 'expected_status'),
    run: (kit, id, expected) => equal(find(kit.tasks, id, 'Task').status, expected),
  },
};

/** The mock user's tools. */
export class MockUserTools extends Toolkit {
  override readonly name = 'MockUserTools';
  override readonly functions = USER_FUNCTIONS as Functions<never>;

  get notifications(): Map<string, Notification> {
    return this.part('notifications');
  }
}

const USER_FUNCTIONS: Functions<MockUserTools> = {
  check_notifications: { type: 'read', parameters: [], run: (kit) => [...kit.notifications.values()] },
  dismiss_notification: {
    type: 'write',
    parameters: parameters('notification_id'),
    run(kit, id) {
      find(kit.notifications, id, 'Notification').status = 'read';
      return `Notification ${str(id)} dismissed`;
    },
  },
  add_notification: {
    parameters: parameters('notification_id', 'message', 'task_id=None'),
    run(kit, id, message, taskId) {
      const added = validate(
        notification,
        new Map([
          ['notification_id', id],
          ['message', message],
          ['task_id', taskId],
        ]),
      );
      kit.notifications.set(added.notification_id, added);
      return added;
    },
  },
  assert_notification_status: {
    parameters: parameters('notification_id', 'expected_status'),
    run: (kit, id, expected) => equal(find(kit.notifications, id, 'Notification').status, expected),
  },
};
