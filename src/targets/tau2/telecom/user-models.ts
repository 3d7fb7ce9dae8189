import {
  bool,
  dict,
  enumeration,
  float,
  type Infer,
  int,
  model,
  optional,
  type Schema,
  string,
  withDefault,
} from '../python/schema.js';

/** The customer's side: a phone and what surrounds it. */

const off = withDefault(bool, () => false);
const on = withDefault(bool, () => true);
const strength = enumeration('none', 'poor', 'fair', 'good', 'excellent');
const technology = enumeration('none', '2G', '3G', '4G', '5G');
export const NETWORK_MODES = ['4g_5g_preferred', '4g_only', '3g_only', '2g_only'] as const;

const apnSettings = model(
  'APNSettings',
  {
    apn_name: withDefault(enumeration('internet', 'broken'), () => 'internet'),
    reset_at_reboot: off,
    mms_apn: withDefault(optional(string), () => 'mms'),
    mmsc_url: withDefault(optional(string), () => 'http://mms.carrier.com/mms/wapenc'),
    mms_proxy: optional(string),
    mms_port: optional(int),
  },
  'forbid',
);

export { apnSettings };
export type ApnSettings = Infer<typeof apnSettings>;

const vpnDetails = model(
  'VpnDetails',
  {
    server_address: optional(string),
    protocol: optional(string),
    server_performance: withDefault(
      enumeration('unknown', 'poor', 'fair', 'good', 'excellent'),
      () => 'unknown',
    ),
  },
  'forbid',
);
export type VpnDetails = Infer<typeof vpnDetails>;

const appPermissions = model(
  'AppPermissions',
  { sms: off, storage: off, phone: off, network: off },
  'forbid',
);
export type AppPermissions = Infer<typeof appPermissions>;

const appStatus = model(
  'AppStatus',
  {
    app_name: string,
    permissions: withDefault(appPermissions, () => permissions()),
  },
  'forbid',
);
export type AppStatus = Infer<typeof appStatus>;

const permissions = (...granted: (keyof AppPermissions)[]): AppPermissions => ({
  sms: granted.includes('sms'),
  storage: granted.includes('storage'),
  phone: granted.includes('phone'),
  network: granted.includes('network'),
});

/** A model as the default of a field: what it is of nothing. */
const defaults = <T>(schema: Schema<T>): T => schema.check(new Map(), [], []) as T;

const device = model(
  'MockPhoneAttributes',
  {
    sim_card_status: withDefault(
      enumeration('active', 'missing', 'locked_pin', 'locked_puk'),
      () => 'active',
    ),
    sim_card_missing: off,
    airplane_mode: off,
    network_signal_strength: withDefault(strength, () => 'good'),
    network_technology_connected: withDefault(technology, () => '5G'),
    network_connection_status: withDefault(
      enumeration('connected', 'searching', 'no_service', 'emergency_only'),
      () => 'connected',
    ),
    battery_level: withDefault(int, () => 80),
    data_enabled: on,
    roaming_enabled: off,
    network_mode_preference: withDefault(enumeration(...NETWORK_MODES), () => '4g_5g_preferred'),
    active_apn_settings: withDefault(apnSettings, () => defaults(apnSettings)),
    wifi_enabled: off,
    wifi_connected: off,
    wifi_ssid: optional(string),
    wifi_signal_strength: withDefault(strength, () => 'none'),
    wifi_calling_enabled: off,
    wifi_calling_mms_over_wifi: off,
    data_saver_mode: off,
    vpn_enabled_setting: off,
    vpn_connected: off,
    vpn_details: optional(vpnDetails),
    app_statuses: withDefault(
      dict(appStatus),
      () =>
        new Map<string, AppStatus>([
          ['messaging', { app_name: 'messaging', permissions: permissions('sms', 'storage', 'phone') }],
          ['browser', { app_name: 'browser', permissions: permissions('network', 'storage') }],
        ]),
    ),
  },
  'forbid',
);
export type Phone = Infer<typeof device>;

const paymentRequest = model('PaymentRequest', { bill_id: string, amount_due: float, paid: off }, 'forbid');

const surroundings = model(
  'UserSurroundings',
  {
    name: optional(string),
    phone_number: optional(string),
    is_abroad: off,
    roaming_allowed: off,
    signal_strength: withDefault(
      dict(strength),
      () =>
        new Map<string, Infer<typeof strength>>([
          ['2G', 'poor'],
          ['3G', 'fair'],
          ['4G', 'good'],
          ['5G', 'excellent'],
        ]),
    ),
    mobile_data_usage_exceeded: off,
    line_active: on,
    payment_request: optional(paymentRequest),
  },
  'forbid',
);
export type Surroundings = Infer<typeof surroundings>;

export const telecomUserDb = model(
  'TelecomUserDB',
  {
    device: withDefault(device, () => defaults(device)),
    surroundings: withDefault(surroundings, () => defaults(surroundings)),
  },
  'forbid',
);
