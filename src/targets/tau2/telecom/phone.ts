import { round2 } from '../python/numbers.js';
import { attributeError, typeName } from '../python/value.js';
import type { ApnSettings, Phone, Surroundings } from './user-models.js';

/** How the simulated phone behaves, apart from the tools that touch it. */

const NO_SIGNAL = '📵 No Signal';
const SIGNALS: { readonly [strength in Phone['network_signal_strength']]: string } = {
  none: NO_SIGNAL,
  poor: '📶¹ Poor',
  fair: '📶² Fair',
  good: '📶³ Good',
  excellent: '📶⁴ Excellent',
};

export function statusBar(phone: Phone): string {
  const parts: string[] = [];
  if (phone.airplane_mode) parts.push('✈️ Airplane Mode');
  else {
    const connected = phone.network_technology_connected !== 'none';
    parts.push(SIGNALS[phone.network_signal_strength] ?? NO_SIGNAL);
    if (connected) parts.push(phone.network_technology_connected);
    if (phone.data_enabled && connected) {
      parts.push('📱 Data Enabled');
      if (phone.data_saver_mode) parts.push('🔽 Data Saver');
    } else parts.push('📵 Data Disabled');
  }
  if (phone.wifi_enabled && phone.wifi_connected)
    parts.push(phone.wifi_ssid ? `📡 Connected to ${phone.wifi_ssid}` : '📡 Enabled');
  if (phone.vpn_connected) parts.push('🔒 VPN Connected');
  parts.push(`🔋 ${phone.battery_level}%`);
  return parts.join(' | ');
}

export const simStatus = (phone: Phone): Phone['sim_card_status'] =>
  phone.sim_card_missing ? 'missing' : phone.sim_card_status;

/**
 * The access point settings. set_apn_settings stores whatever it is given, so that they may be none.
 * @throws PythonError naming the attribute that is then asked for in vain.
 */
export function apnOf(phone: Phone, attribute: string): ApnSettings {
  const settings: unknown = phone.active_apn_settings;
  if (typeName(settings) !== 'object') throw attributeError(typeName(settings), attribute);
  return phone.active_apn_settings;
}

/** Connects the phone to what its settings and surroundings allow. */
export function searchNetwork(phone: Phone, surroundings: Surroundings): void {
  const connect = (technology: Phone['network_technology_connected']) => {
    phone.network_technology_connected = technology;
    phone.network_signal_strength = surroundings.signal_strength.get(technology) ?? 'none';
  };
  const disconnect = () => {
    phone.network_connection_status = 'no_service';
    phone.network_technology_connected = 'none';
    phone.network_signal_strength = 'none';
  };
  if (simStatus(phone) === 'active') {
    phone.network_connection_status = 'connected';
    switch (phone.network_mode_preference) {
      case '4g_5g_preferred':
        connect((surroundings.signal_strength.get('5G') ?? 'none') === 'none' ? '4G' : '5G');
        break;
      case '3g_only':
        connect('3G');
        break;
      case '2g_only':
        connect('2G');
        break;
      default:
        connect('4G');
    }
  } else disconnect();
  // In this order: settings that are none stop the search after airplane mode took effect.
  if (phone.airplane_mode) disconnect();
  if (apnOf(phone, 'apn_name').apn_name === 'broken' || !surroundings.line_active) disconnect();
}

export function mobileDataWorks(phone: Phone, surroundings: Surroundings): boolean {
  if (phone.airplane_mode || phone.network_signal_strength === 'none') return false;
  if (phone.network_connection_status === 'no_service') return false;
  if (surroundings.is_abroad && !(phone.roaming_enabled && surroundings.roaming_allowed)) return false;
  return phone.data_enabled && !surroundings.mobile_data_usage_exceeded;
}

export function canSendMms(phone: Phone, surroundings: Surroundings): boolean {
  if (!mobileDataWorks(phone, surroundings)) return false;
  if (phone.network_technology_connected === '2G') return false;
  if (phone.wifi_calling_enabled && phone.wifi_calling_mms_over_wifi) return false;
  if (apnOf(phone, 'mmsc_url').mmsc_url === null) return false;
  const app = phone.app_statuses.get('messaging');
  return (app?.permissions.storage && app.permissions.sms) ?? false;
}

/** Slowest and fastest of a technology, in Mbit/s. */
const SPEEDS: { readonly [technology: string]: readonly [number, number] } = {
  '2G': [0.1, 0.4],
  '3G': [1, 5],
  '4G': [10, 100],
  '5G': [50, 500],
};
const SIGNAL_FACTORS: { readonly [strength: string]: number } = {
  poor: 0.2,
  fair: 0.5,
  good: 0.8,
  excellent: 1,
};

export interface Speed {
  /** Mbit/s; null without a connection. */
  readonly mbps: number | null;
  readonly description: string;
}

export function measureSpeed(phone: Phone, surroundings: Surroundings): Speed {
  if (!mobileDataWorks(phone, surroundings)) return { mbps: null, description: 'No Connection' };
  const slowVpn = phone.vpn_connected && phone.vpn_details?.server_performance === 'poor';
  let factor = slowVpn ? 0.1 : 1;
  if (phone.data_saver_mode) factor *= 0.2;
  const [slowest, fastest] = SPEEDS[phone.network_technology_connected] ?? [0, 0];
  const signal = SIGNAL_FACTORS[phone.network_signal_strength] ?? 0;
  // In this order of operations, so that the digits are the benchmark's.
  const mbps = round2(((slowest + fastest) / 2) * signal * factor);
  const description =
    mbps < 1 ? 'Very Poor' : mbps < 5 ? 'Poor' : mbps < 25 ? 'Fair' : mbps < 100 ? 'Good' : 'Excellent';
  return { mbps, description };
}
