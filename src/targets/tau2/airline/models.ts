import { type Database, database } from '../database.js';
import {
  dict,
  float,
  type Infer,
  int,
  list,
  literal,
  type Model,
  model,
  optional,
  string,
  tagged,
  validate,
} from '../python/schema.js';
import type { Dict } from '../python/value.js';
import { BaseTable, Table } from '../table.js';

/** The airline domain's models; field order is the order in which outputs print. */

const cabin = literal('business', 'economy', 'basic_economy');
const name = model('Name', { first_name: string, last_name: string });
const address = model('Address', {
  address1: string,
  address2: optional(string),
  city: string,
  country: string,
  state: string,
  zip: string,
});

export const payment = model('Payment', { payment_id: string, amount: int });
export type Payment = Infer<typeof payment>;

const creditCard = model('CreditCard', {
  source: literal('credit_card'),
  id: string,
  brand: string,
  last_four: string,
});
const giftCard = model('GiftCard', { source: literal('gift_card'), id: string, amount: float });
export const certificate = model('Certificate', {
  source: literal('certificate'),
  id: string,
  amount: float,
});
export type PaymentMethod = Infer<typeof creditCard> | Infer<typeof giftCard> | Infer<typeof certificate>;
const paymentMethod = tagged<PaymentMethod>('source', {
  credit_card: creditCard,
  gift_card: giftCard,
  certificate,
} as { [source: string]: Model<PaymentMethod> });

export const passenger = model('Passenger', { first_name: string, last_name: string, dob: string });

/** A flight on one day; only what is `available` has seats and prices. */
export interface FlightDay {
  status: string;
  available_seats?: Map<string, number>;
  prices?: Map<string, number>;
}
const day = (title: string, status: string, ...times: string[]): Model<FlightDay> =>
  model(title, {
    status: literal(status),
    ...Object.fromEntries(times.map((time) => [time, string])),
  }) as Model<FlightDay>;
const flightDay = tagged<FlightDay>('status', {
  available: model('FlightDateStatusAvailable', {
    status: literal('available'),
    available_seats: dict(int),
    prices: dict(int),
  }) as Model<FlightDay>,
  'on time': day(
    'FlightDataStatusOnTime',
    'on time',
    'estimated_departure_time_est',
    'estimated_arrival_time_est',
  ),
  flying: day('FlightDataStatusFlying', 'flying', 'actual_departure_time_est', 'estimated_arrival_time_est'),
  landed: day('FlightDateStatusLanded', 'landed', 'actual_departure_time_est', 'actual_arrival_time_est'),
  cancelled: day('FlightDateStatusCancelled', 'cancelled'),
  delayed: day(
    'FlightDateStatusDelayed',
    'delayed',
    'estimated_departure_time_est',
    'estimated_arrival_time_est',
  ),
});

const flight = model('Flight', {
  flight_number: string,
  origin: string,
  destination: string,
  scheduled_departure_time_est: string,
  scheduled_arrival_time_est: string,
  dates: dict(flightDay),
});
export type Flight = Infer<typeof flight>;

const reservationFlight = model('ReservationFlight', {
  flight_number: string,
  origin: string,
  destination: string,
  date: string,
  price: int,
});
export type ReservationFlight = Infer<typeof reservationFlight>;

export const flightInfo = model('FlightInfo', { flight_number: string, date: string });

const user = model('User', {
  user_id: string,
  name,
  address,
  email: string,
  dob: string,
  payment_methods: dict(paymentMethod),
  saved_passengers: list(passenger),
  membership: literal('gold', 'silver', 'regular'),
  reservations: list(string),
});
export type User = Infer<typeof user>;

export const reservation = model('Reservation', {
  reservation_id: string,
  user_id: string,
  origin: string,
  destination: string,
  flight_type: literal('round_trip', 'one_way'),
  cabin,
  flights: list(reservationFlight),
  passengers: list(passenger),
  payment_history: list(payment),
  created_at: string,
  total_baggages: int,
  nonfree_baggages: int,
  insurance: literal('yes', 'no'),
  status: optional(literal('cancelled')),
});
export type Reservation = Infer<typeof reservation>;

const flightDb = model(
  'FlightDB',
  { flights: dict(flight), users: dict(user), reservations: dict(reservation) },
  'forbid',
);

export interface AirlineData {
  readonly flights: Table<Flight>;
  readonly users: Table<User>;
  readonly reservations: Table<Reservation>;
}

/** Reads the database file once; every call of the result opens a fresh database over the same rows. */
export function airlineDatabase(file: Dict): () => Database<AirlineData> {
  const read = (dicts: Dict) => {
    const db = validate(flightDb, dicts);
    return {
      flights: new BaseTable(db.flights),
      users: new BaseTable(db.users),
      reservations: new BaseTable(db.reservations),
    };
  };
  const open = (base: ReturnType<typeof read>): AirlineData => ({
    flights: new Table(base.flights),
    users: new Table(base.users),
    reservations: new Table(base.reservations),
  });
  const base = read(file);
  return () => database('FlightDB', open(base), (dicts) => open(read(dicts)));
}
