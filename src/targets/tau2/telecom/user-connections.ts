import { validate } from '../python/schema.js';
import { attributeError, isDict, repr, str, truthy, typeName } from '../python/value.js';
import { type Functions, parameters, type ToolFunction } from '../toolkit.js';
import { apnOf } from './phone.js';
import { type ApnSettings, apnSettings } from './user-models.js';
import { disconnectVpn, setup, tool } from './user-network.js';
import type { TelecomUserTools } from './user-toolkit.js';

/** APN settings, Wi-Fi, VPN, restarting and paying. */

type Fn = ToolFunction<TelecomUserTools>;
type Kit = TelecomUserTools;

function checkApnSettings({ device }: Kit): string {
  const { apn_name: name, mmsc_url: url } = apnOf(device, 'model_copy');
  return (
    `Current APN Name: ${name || 'Not Set'}\nMMSC URL (for picture messages): ${url || 'Not Set'}\n` +
    '(These are technical settings, usually best left unchanged.)'
  );
}

const setApnSettings: Fn = {
  type: 'write',
  parameters: parameters('apn_settings'),
  run(kit, settings) {
    const read: unknown = isDict(settings) ? validate(apnSettings, settings) : settings;
    kit.device.active_apn_settings = read as ApnSettings;
    // What is no dict is stored before it is found to be none.
    if (typeName(read) !== 'object') throw attributeError(typeName(read), 'apn_name');
    kit.search();
    return kit.withStatus(`APN settings set to: ${(read as ApnSettings).apn_name}`);
  },
};

function reboot(kit: Kit): string {
  const { device } = kit;
  const lines: string[] = [];
  if (apnOf(device, 'reset_at_reboot').reset_at_reboot) {
    lines.push('Resetting APN settings...');
    device.active_apn_settings = validate(apnSettings, new Map());
  }
  lines.push('Restarting network services...');
  device.network_connection_status = 'searching';
  kit.search();
  return kit.withStatus(lines.join('\n'));
}

function checkWifi({ device }: Kit): string {
  if (!device.wifi_enabled) return 'Wi-Fi is turned OFF.';
  return device.wifi_connected
    ? `Wi-Fi is ON and connected to '${str(device.wifi_ssid)}'. Signal strength: ${device.wifi_signal_strength}.`
    : 'Wi-Fi is ON but not connected to any network.';
}

function toggleWifi(kit: Kit): string {
  const { device } = kit;
  if (device.airplane_mode) return kit.withStatus('Cannot change Wi-Fi settings while Airplane Mode is ON.');
  device.wifi_enabled = !device.wifi_enabled;
  if (!device.wifi_enabled) {
    device.wifi_connected = false;
    device.wifi_ssid = null;
    device.wifi_signal_strength = 'none';
  }
  return kit.withStatus(`Wi-Fi is now ${device.wifi_enabled ? 'ON' : 'OFF'}.`);
}

const setWifiCalling: Fn = {
  parameters: parameters('enabled', 'mms_over_wifi=None'),
  run({ device }, enabled, mms) {
    if (device.wifi_calling_enabled !== enabled) device.wifi_calling_enabled = !device.wifi_calling_enabled;
    const report = `Wi-Fi Calling is now ${truthy(enabled) ? 'ON' : 'OFF'}.`;
    if (mms === null) return report;
    device.wifi_calling_mms_over_wifi = mms as boolean;
    return `${report}\nMMS over Wi-Fi is now ${truthy(mms) ? 'ON' : 'OFF'}.`;
  },
};

/** Prints the details as Python prints a dict with an enum member in it. */
function checkVpn({ device }: Kit): string {
  const details = device.vpn_details;
  if (device.vpn_connected) {
    if (!details) return 'VPN is ON and connected (no specific details available).';
    const level = details.server_performance;
    return (
      `VPN is ON and connected. Details: {'server_address': ${repr(details.server_address)}, ` +
      `'protocol': ${repr(details.protocol)}, ` +
      `'server_performance': <PerformanceLevel.${level.toUpperCase()}: '${level}'>}`
    );
  }
  return device.vpn_enabled_setting
    ? 'VPN is turned ON in settings, but currently not connected.'
    : 'VPN is turned OFF.';
}

/** Whether there was none before. */
function connectVpn(kit: Kit): boolean {
  const { device } = kit;
  if (device.vpn_connected) return false;
  device.vpn_connected = true;
  device.vpn_details = kit.defaultVpn;
  return true;
}

export const userConnections: Functions<TelecomUserTools> = {
  check_apn_settings: tool('read', checkApnSettings),
  set_apn_settings: setApnSettings,
  reset_apn_settings: tool('write', (kit) => {
    apnOf(kit.device, 'reset_at_reboot').reset_at_reboot = true;
    kit.search();
    return kit.withStatus('APN settings will reset at reboot.');
  }),
  break_apn_settings: setup((kit) => {
    apnOf(kit.device, 'apn_name').apn_name = 'broken';
    kit.search();
    return 'APN settings broken. Please call reset_apn_settings() to fix.';
  }),
  break_apn_mms_setting: setup((kit) => {
    apnOf(kit.device, 'mmsc_url').mmsc_url = null;
    return 'APN MMS setting broken. Please call reset_apn_settings() to fix.';
  }),
  check_wifi_status: tool('read', checkWifi),
  toggle_wifi: tool('write', toggleWifi),
  check_wifi_calling_status: tool(
    'read',
    ({ device }) => `Wi-Fi Calling is currently turned ${device.wifi_calling_enabled ? 'ON' : 'OFF'}.`,
  ),
  toggle_wifi_calling: tool('write', (kit) => {
    const enabled = !kit.device.wifi_calling_enabled;
    kit.device.wifi_calling_enabled = enabled;
    return kit.withStatus(`Wi-Fi Calling is now ${enabled ? 'ON' : 'OFF'}.`);
  }),
  set_wifi_calling: setWifiCalling,
  check_vpn_status: tool('read', checkVpn),
  connect_vpn: tool('write', (kit) =>
    connectVpn(kit) ? kit.withStatus('VPN connected successfully.') : 'VPN already connected.',
  ),
  disconnect_vpn: tool('write', (kit) =>
    kit.withStatus(
      disconnectVpn(kit.device)
        ? 'VPN disconnected successfully.'
        : 'No active VPN connection to disconnect.',
    ),
  ),
  break_vpn: setup((kit) => {
    connectVpn(kit);
    const { vpn_details: details } = kit.device;
    if (!details) throw attributeError('NoneType', 'server_performance');
    details.server_performance = 'poor';
    return 'VPN connection broken.';
  }),
  reboot_device: tool('write', reboot),
  check_payment_request: tool('read', ({ surroundings }) => {
    const request = surroundings.payment_request;
    return request
      ? `You have a payment request for bill ${request.bill_id} of ${str(request.amount_due)} USD.`
      : 'No payment request has been made.';
  }),
  make_payment: tool('write', ({ surroundings }) => {
    const request = surroundings.payment_request;
    if (!request) return 'You do not have a payment request.';
    request.paid = true;
    return `Payment of ${str(request.amount_due)} USD has been made for bill ${request.bill_id}.`;
  }),
};
