import {
  bool,
  date,
  datetime,
  enumeration,
  float,
  type Infer,
  list,
  model,
  optional,
  string,
  withDefault,
} from '../python/schema.js';
import { Float } from '../python/value.js';

/** The telecom company's side; field order is the order in which outputs print. */

const no = () => false;
const zero = () => new Float(0);
const none = <T>() => [] as T[];

const plan = model(
  'Plan',
  {
    plan_id: string,
    name: string,
    data_limit_gb: float,
    price_per_month: float,
    data_refueling_price_per_gb: float,
  },
  'forbid',
);
export type Plan = Infer<typeof plan>;

const device = model(
  'Device',
  {
    device_id: string,
    device_type: enumeration('phone', 'router', 'tablet', 'watch', 'other'),
    model: string,
    imei: optional(string),
    is_esim_capable: bool,
    activated: withDefault(bool, no),
    activation_date: optional(datetime),
    last_esim_transfer_date: optional(datetime),
  },
  'forbid',
);
export type Device = Infer<typeof device>;

const line = model(
  'Line',
  {
    line_id: string,
    phone_number: string,
    status: withDefault(
      enumeration('Active', 'Suspended', 'Pending Activation', 'Closed'),
      () => 'Pending Activation',
    ),
    plan_id: string,
    device_id: optional(string),
    data_used_gb: withDefault(float, zero),
    data_refueling_gb: withDefault(float, zero),
    roaming_enabled: withDefault(bool, no),
    contract_end_date: optional(date),
    last_plan_change_date: optional(date),
    last_sim_replacement_date: optional(date),
    suspension_start_date: optional(date),
  },
  'forbid',
);
export type Line = Infer<typeof line>;

export const lineItem = model(
  'LineItem',
  { description: string, amount: float, date, item_type: string },
  'forbid',
);
export type LineItem = Infer<typeof lineItem>;

export const bill = model(
  'Bill',
  {
    bill_id: string,
    customer_id: string,
    period_start: date,
    period_end: date,
    issue_date: date,
    total_due: float,
    due_date: date,
    line_items: withDefault(list(lineItem), none<LineItem>),
    status: withDefault(
      enumeration('Draft', 'Issued', 'Awaiting Payment', 'Paid', 'Overdue', 'Disputed'),
      () => 'Draft',
    ),
  },
  'forbid',
);
export type Bill = Infer<typeof bill>;

const paymentMethod = model(
  'PaymentMethod',
  {
    method_type: enumeration('Credit Card', 'Debit Card', 'PayPal'),
    account_number_last_4: string,
    expiration_date: string,
  },
  'forbid',
);

const customer = model(
  'Customer',
  {
    customer_id: string,
    full_name: string,
    date_of_birth: string,
    email: string,
    phone_number: string,
    address: model('Address', { street: string, city: string, state: string, zip_code: string }, 'forbid'),
    account_status: withDefault(
      enumeration('Active', 'Suspended', 'Pending Verification', 'Closed'),
      () => 'Pending Verification',
    ),
    payment_methods: withDefault(list(paymentMethod), none<Infer<typeof paymentMethod>>),
    line_ids: withDefault(list(string), none<string>),
    bill_ids: withDefault(list(string), none<string>),
    // A date, though the field is a datetime: defaults are not validated.
    created_at: withDefault(datetime, () => '2025-01-01'),
    last_extension_date: optional(date),
    goodwill_credit_used_this_year: withDefault(float, zero),
  },
  'forbid',
);
export type Customer = Infer<typeof customer>;

export const telecomDb = model(
  'TelecomDB',
  {
    plans: withDefault(list(plan), none<Plan>),
    customers: withDefault(list(customer), none<Customer>),
    lines: withDefault(list(line), none<Line>),
    bills: withDefault(list(bill), none<Bill>),
    devices: withDefault(list(device), none<Device>),
  },
  'forbid',
);
export type TelecomData = Infer<typeof telecomDb>;
