import { attributeError, str, typeName } from '../python/value.js';
import { type Functions, parameters, type ToolFunction } from '../toolkit.js';
import { measureSpeed, simStatus, statusBar } from './phone.js';
import { NETWORK_MODES, type Phone } from './user-models.js';
import type { TelecomUserTools } from './user-toolkit.js';

/** The phone's cellular side: airplane mode, SIM, network mode, mobile data, roaming. */

type Fn = ToolFunction<TelecomUserTools>;
type Kit = TelecomUserTools;

const onOff = (state: boolean): string => (state ? 'ON' : 'OFF');
const yesNo = (state: boolean): string => (state ? 'Yes' : 'No');

/** A tool without arguments. */
export const tool = (type: 'read' | 'write', run: (kit: Kit) => unknown): Fn => ({
  type,
  parameters: [],
  run,
});
/** A function without arguments that only tasks call. */
export const setup = (run: (kit: Kit) => unknown): Fn => ({ parameters: [], run });

type Switch = 'data_enabled' | 'roaming_enabled' | 'data_saver_mode';

/** Flips a switch of the phone; all but data saver make it look for a network. */
function flip(kit: Kit, name: Switch): boolean {
  kit.device[name] = !kit.device[name];
  if (name !== 'data_saver_mode') kit.search();
  return kit.device[name];
}

const toggle = (name: Switch, label: string): Fn =>
  tool('write', (kit) => kit.withStatus(`${label} is now ${onOff(flip(kit, name))}.`));

/** Sets a switch as the benchmark does: flipped, and flipped back where that was wrong. */
const turn = (name: Switch, state: boolean, report: string): Fn =>
  setup((kit) => {
    if (flip(kit, name) !== state) flip(kit, name);
    return report;
  });

function toggleAirplaneMode(kit: Kit): boolean {
  const { device } = kit;
  const leaving = device.airplane_mode;
  device.airplane_mode = !leaving;
  if (leaving) device.network_connection_status = 'searching';
  if (!leaving || device.wifi_enabled) {
    device.wifi_connected = false;
    device.wifi_ssid = null;
    device.wifi_signal_strength = 'none';
  }
  if (!leaving) disconnectVpn(device);
  kit.search();
  return device.airplane_mode;
}

/** Whether there was a connection to end. */
export function disconnectVpn(device: Phone): boolean {
  if (!device.vpn_connected) return false;
  device.vpn_connected = false;
  device.vpn_details = null;
  return true;
}

const turnAirplaneMode = (state: boolean): Fn =>
  setup((kit) => {
    if (toggleAirplaneMode(kit) !== state) toggleAirplaneMode(kit);
    return `Airplane Mode is now ${onOff(state)}.`;
  });

function checkNetworkStatus({ device }: Kit): string {
  const lines = [
    `Airplane Mode: ${onOff(device.airplane_mode)}`,
    `SIM Card Status: ${simStatus(device)}`,
    `Cellular Connection: ${device.network_connection_status}`,
    `Cellular Signal: ${device.network_signal_strength}`,
    `Cellular Network Type: ${device.network_technology_connected}`,
    `Mobile Data Enabled: ${yesNo(device.data_enabled)}`,
    `Data Roaming Enabled: ${yesNo(device.roaming_enabled)}`,
    `Wi-Fi Radio: ${onOff(device.wifi_enabled)}`,
    `Wi-Fi Connected: ${yesNo(device.wifi_connected)}`,
  ];
  if (device.wifi_connected) lines.push(`Connected Wi-Fi Network: ${str(device.wifi_ssid)}`);
  return lines.join('\n');
}

const setNetworkMode: Fn = {
  type: 'write',
  parameters: parameters('mode'),
  run(kit, mode) {
    const known = NETWORK_MODES.find((name) => name === mode);
    if (typeof mode === 'string' && !known)
      return kit.withStatus(
        `Failed to set network mode: '${mode}' is not a valid option. ` +
          `Please use one of: ${NETWORK_MODES.join(', ')}`,
      );
    // What is no string is stored unchecked, and only then found to be no mode.
    kit.device.network_mode_preference = mode as Phone['network_mode_preference'];
    kit.search();
    if (known) return kit.withStatus(`Preferred Network Mode set to: ${known}`);
    if (mode !== null) throw attributeError(typeName(mode), 'value');
    return kit.withStatus(
      "Failed to set network mode: 'None' is not a valid option. " +
        `Please use one of: ${NETWORK_MODES.join(', ')}`,
    );
  },
};

const ADVICE: { readonly [description: string]: string } = {
  'Very Poor': 'Connection is very slow. Basic web browsing might be difficult.',
  Poor: 'Connection is slow. Web browsing may be sluggish, streaming difficult.',
  Fair: 'Connection is okay for web browsing and some standard definition streaming.',
  Good: 'Connection is good for most activities, including HD streaming.',
  Excellent: 'Connection is very fast.',
};

function runSpeedTest(kit: Kit): string {
  const { mbps, description } = measureSpeed(kit.device, kit.surroundings);
  if (mbps === null) return `Speed test failed: ${description}.`;
  return `Speed Test Result: ${mbps.toFixed(2)} Mbps (${description}). ${ADVICE[description] ?? ''}`;
}

const SIM_REPORTS: { readonly [status in Phone['sim_card_status']]: string } = {
  active: 'Your SIM card is active and working.',
  missing: 'No SIM card detected in the phone.',
  locked_pin: 'The SIM card is locked with a PIN code.',
  locked_puk: 'The SIM card is locked with a PUK code.',
};

function seatSim(kit: Kit, seated: boolean): string {
  kit.device.sim_card_missing = !seated;
  kit.search();
  return `SIM card ${seated ? 're-seated' : 'un-seated'} successfully.`;
}

const lockSim: Fn = {
  parameters: parameters('mode'),
  run(kit, mode) {
    if (mode === 'pin') kit.device.sim_card_status = 'locked_pin';
    else if (mode === 'puk') kit.device.sim_card_status = 'locked_puk';
    kit.search();
    return `SIM card locked successfully in ${str(mode)} mode.`;
  },
};

export const userNetwork: Functions<TelecomUserTools> = {
  set_user_info: {
    parameters: parameters('name', 'phone_number'),
    run(kit, name, number) {
      kit.surroundings.name = name as string;
      kit.surroundings.phone_number = number as string;
      return null;
    },
  },
  set_user_location: {
    parameters: parameters('abroad'),
    run(kit, abroad) {
      kit.surroundings.is_abroad = abroad as boolean;
      return null;
    },
  },
  check_status_bar: tool('read', (kit) => `Status Bar: ${statusBar(kit.device)}`),
  check_network_status: tool('read', checkNetworkStatus),
  check_network_mode_preference: tool('read', (kit) => {
    const mode: unknown = kit.device.network_mode_preference;
    if (typeof mode !== 'string') throw attributeError(typeName(mode), 'value');
    return `Network Mode Preference: ${mode}`;
  }),
  set_network_mode_preference: setNetworkMode,
  run_speed_test: tool('read', runSpeedTest),
  toggle_airplane_mode: tool('write', (kit) =>
    kit.withStatus(`Airplane Mode is now ${onOff(toggleAirplaneMode(kit))}.`),
  ),
  turn_airplane_mode_on: turnAirplaneMode(true),
  turn_airplane_mode_off: turnAirplaneMode(false),
  check_sim_status: tool('read', (kit) => SIM_REPORTS[simStatus(kit.device)]),
  reseat_sim_card: tool('write', (kit) => kit.withStatus(seatSim(kit, true))),
  unseat_sim_card: setup((kit) => seatSim(kit, false)),
  lock_sim_card: lockSim,
  toggle_data: toggle('data_enabled', 'Mobile Data'),
  turn_data_on: setup((kit) => {
    kit.device.data_enabled = true;
    return 'Data connection restored.';
  }),
  turn_data_off: turn('data_enabled', false, 'Data connection broken.'),
  toggle_roaming: toggle('roaming_enabled', 'Data Roaming'),
  turn_roaming_on: turn('roaming_enabled', true, 'Data Roaming is now ON.'),
  turn_roaming_off: turn('roaming_enabled', false, 'Data Roaming is now OFF.'),
  check_data_restriction_status: tool('read', (kit) =>
    kit.device.data_saver_mode ? 'Data Saver mode is ON (limits data usage).' : 'Data Saver mode is OFF.',
  ),
  toggle_data_saver_mode: toggle('data_saver_mode', 'Data Saver Mode'),
  turn_data_saver_mode_on: turn('data_saver_mode', true, 'Data Saver Mode is now ON.'),
  turn_data_saver_mode_off: turn('data_saver_mode', false, 'Data Saver Mode is now OFF.'),
  simulate_network_search: setup((kit) => {
    kit.search();
    return null;
  }),
};
