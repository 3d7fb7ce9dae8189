import { asString, hashable, repr, str } from '../python/value.js';
import { type Functions, parameters, type ToolFunction } from '../toolkit.js';
import { canSendMms } from './phone.js';
import type { AppPermissions, AppStatus } from './user-models.js';
import { tool } from './user-network.js';
import type { TelecomUserTools } from './user-toolkit.js';

/** Apps, their permissions, and picture messages. */

type Fn = ToolFunction<TelecomUserTools>;

function find(kit: TelecomUserTools, name: unknown): AppStatus | undefined {
  const key = hashable(name);
  return key === null ? undefined : kit.device.app_statuses.get(key);
}

const granted = (app: AppStatus): string[] =>
  Object.entries(app.permissions).flatMap(([name, allowed]) =>
    allowed ? [name.replaceAll('_', ' ').toLowerCase()] : [],
  );

const missing = (name: unknown): string => `App '${str(name)}' not found on this phone.`;

const checkStatus: Fn = {
  type: 'read',
  parameters: parameters('app_name'),
  run(kit, name) {
    const app = find(kit, name);
    if (!app) return missing(name);
    const allowed = granted(app);
    return [
      `Status for App: ${str(name)}`,
      ...(allowed.length === 0
        ? [' - Permissions: None granted.']
        : [' - Permissions Granted:', ...allowed.map((permission) => `   - ${permission}`)]),
    ].join('\n');
  },
};

const checkPermissions: Fn = {
  type: 'read',
  parameters: parameters('app_name'),
  run(kit, name) {
    const app = find(kit, name);
    if (!app) return missing(name);
    const allowed = granted(app);
    return allowed.length === 0
      ? `App '${str(name)}' currently has no permissions granted.`
      : `App '${str(name)}' has permission for: ${allowed.join(', ')}.`;
  },
};

const grantPermission: Fn = {
  type: 'write',
  parameters: parameters('app_name', 'permission'),
  run(kit, name, permissionArg) {
    const app = find(kit, name);
    const permission = asString(permissionArg, 'lower').toLowerCase();
    if (!app) return kit.withStatus(`Error. App '${str(name)}' not found. Cannot grant permission.`);
    const available = Object.keys(app.permissions);
    if (!available.includes(permission))
      return kit.withStatus(
        `Error. Permission '${permission}' not tracked for app '${str(name)}', ` +
          `available permissions: ${repr(available)}`,
      );
    app.permissions[permission as keyof AppPermissions] = true;
    return kit.withStatus(`Success. Permission '${permission}' granted to app '${str(name)}'.`);
  },
};

const removePermission: Fn = {
  parameters: parameters('app_name', 'permission'),
  run(kit, name, permissionArg) {
    const app = find(kit, name);
    const permission = asString(permissionArg, 'lower').toLowerCase();
    if (!app) return [false, `App '${str(name)}' not found. Cannot remove permission.`];
    if (!Object.hasOwn(app.permissions, permission))
      return [false, `Permission '${permission}' not tracked for app '${str(name)}'.`];
    app.permissions[permission as keyof AppPermissions] = false;
    return [true, `Permission '${permission}' removed from app '${str(name)}'.`];
  },
};

export const userApps: Functions<TelecomUserTools> = {
  check_installed_apps: tool(
    'read',
    (kit) =>
      `The following apps are installed on the phone: ${[...kit.device.app_statuses.keys()].join(', ')}`,
  ),
  check_app_status: checkStatus,
  check_app_permissions: checkPermissions,
  grant_app_permission: grantPermission,
  remove_app_permission: removePermission,
  can_send_mms: tool('read', (kit) =>
    canSendMms(kit.device, kit.surroundings)
      ? 'Your messaging app can send MMS messages.'
      : 'Your messaging app cannot send MMS messages.',
  ),
};
