import type { ToolSchema } from '../../../trajectory/trajectory.js';
import { number, schema, TRANSFER, text, whole } from '../tool-schema.js';

const customer = text('Customer id, such as C1001.');
const line = text('Line id, such as L1001.');
const bill = text('Bill id, such as B1001.');
const owned = { customer_id: customer, line_id: line };

/** The telecom agent's tools, for a model. */
export const TELECOM_SCHEMAS: readonly ToolSchema[] = [
  schema('get_customer_by_phone', 'Find a customer by any of their phone numbers.', {
    phone_number: text('Phone number, such as 555-123-2001.'),
  }),
  schema('get_customer_by_id', 'Look a customer up.', { customer_id: customer }),
  schema('get_customer_by_name', 'Find customers by name and date of birth.', {
    full_name: text('Full name.'),
    dob: text('Date of birth, YYYY-MM-DD.'),
  }),
  schema('get_details_by_id', 'Look up whatever has an id: customer, line, device, bill or plan.', {
    id: text('The id; its first letter tells what it is.'),
  }),
  schema('suspend_line', 'Suspend an active line.', { ...owned, reason: text('Why it is suspended.') }),
  schema('resume_line', 'Make a suspended line active again.', owned),
  schema(
    'get_bills_for_customer',
    "List a customer's bills, newest first.",
    { customer_id: customer, limit: { ...whole('Most bills to list.'), default: 12 } },
    ['limit'],
  ),
  schema('send_payment_request', 'Ask a customer to pay a bill. Only one bill may be awaiting payment.', {
    customer_id: customer,
    bill_id: bill,
  }),
  schema('get_data_usage', 'Look up how much data a line has used, and how much it may use.', owned),
  schema('enable_roaming', 'Allow a line to be used abroad.', owned),
  schema('disable_roaming', 'Stop a line from being used abroad.', owned),
  TRANSFER,
  schema('refuel_data', "Add data to a line; the customer's bill is charged.", {
    ...owned,
    gb_amount: number('Gigabytes to add.'),
  }),
];

const app = text('Name of the app, such as messaging.');

/** The telecom customer's tools, for whoever plays it. */
export const TELECOM_USER_SCHEMAS: readonly ToolSchema[] = [
  schema('check_status_bar', 'Look at the status bar: signal, network, mobile data, Wi-Fi, battery.'),
  schema('check_network_status', 'Look at the connections to the cellular network and to Wi-Fi.'),
  schema('check_network_mode_preference', 'Look up which kind of network the phone prefers.'),
  schema('set_network_mode_preference', 'Choose which kind of network the phone prefers.', {
    mode: text('One of 4g_5g_preferred, 4g_only, 3g_only, 2g_only.'),
  }),
  schema('run_speed_test', 'Measure the speed of mobile data.'),
  schema('toggle_airplane_mode', 'Switch airplane mode on or off.'),
  schema('check_sim_status', 'Look whether the SIM card works, is missing or is locked.'),
  schema('reseat_sim_card', 'Take the SIM card out and put it back.'),
  schema('toggle_data', 'Switch mobile data on or off.'),
  schema('toggle_roaming', 'Switch data roaming on or off.'),
  schema('check_data_restriction_status', 'Look whether data saver is on.'),
  schema('toggle_data_saver_mode', 'Switch data saver on or off.'),
  schema('check_apn_settings', 'Look at the access point settings.'),
  schema('set_apn_settings', 'Set the access point settings.', {
    apn_settings: { type: 'object', description: 'The settings by name.' },
  }),
  schema('reset_apn_settings', 'Have the access point settings reset at the next restart.'),
  schema('check_wifi_status', 'Look whether Wi-Fi is on and connected.'),
  schema('toggle_wifi', 'Switch Wi-Fi on or off.'),
  schema('check_wifi_calling_status', 'Look whether calls over Wi-Fi are on.'),
  schema('toggle_wifi_calling', 'Switch calls over Wi-Fi on or off.'),
  schema('check_vpn_status', 'Look whether a VPN is connected.'),
  schema('connect_vpn', 'Connect the VPN.'),
  schema('disconnect_vpn', 'Disconnect the VPN.'),
  schema('check_installed_apps', 'List the apps on the phone.'),
  schema('check_app_status', 'Look at an app.', { app_name: app }),
  schema('check_app_permissions', 'Look up what an app is permitted to do.', { app_name: app }),
  schema('grant_app_permission', 'Permit an app something.', {
    app_name: app,
    permission: text('The permission in lower case: sms, storage, phone or network.'),
  }),
  schema('can_send_mms', 'Try whether picture messages can be sent.'),
  schema('reboot_device', 'Restart the phone.'),
  schema('check_payment_request', 'Look whether there is a bill to pay.'),
  schema('make_payment', 'Pay the bill that was asked for.'),
];
