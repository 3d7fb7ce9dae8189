import type { ToolSchema } from '../../../trajectory/trajectory.js';
import { CALCULATE, choice, number, records, schema, TRANSFER, text, whole } from '../tool-schema.js';

const user = text('User id, such as sara_doe_496.');
const reservation = text('Reservation id, such as ZFA04Y.');
const origin = text('IATA code of the airport of departure, such as JFK.');
const destination = text('IATA code of the airport of arrival, such as LAX.');
const date = text('Date of the flight, YYYY-MM-DD.');
const cabin = choice('Cabin class.', 'business', 'economy', 'basic_economy');
const payment = text("Id of a payment method in the user's profile, such as credit_card_7815826.");
const total = whole('All bags of the reservation.');
const nonfree = whole('Bags of the reservation that are paid for.');
const flights = (what: string) =>
  records(what, { flight_number: text('Flight number, such as HAT001.'), date });
const passengers = records('The passengers, each with name and date of birth.', {
  first_name: text('First name.'),
  last_name: text('Last name.'),
  dob: text('Date of birth, YYYY-MM-DD.'),
});

/** The airline agent's tools, for a model. */
export const AIRLINE_SCHEMAS: readonly ToolSchema[] = [
  schema('book_reservation', 'Book a reservation and take the payments.', {
    user_id: user,
    origin,
    destination,
    flight_type: choice('Kind of trip.', 'round_trip', 'one_way'),
    cabin,
    flights: flights('Every flight segment of the trip.'),
    passengers,
    payment_methods: records('What is paid with; the amounts add up to the price.', {
      payment_id: payment,
      amount: whole('Amount in dollars.'),
    }),
    total_baggages: total,
    nonfree_baggages: nonfree,
    insurance: choice('Whether travel insurance is bought.', 'yes', 'no'),
  }),
  CALCULATE,
  schema('cancel_reservation', 'Cancel a whole reservation and refund what was paid.', {
    reservation_id: reservation,
  }),
  schema('get_reservation_details', 'Look a reservation up.', { reservation_id: reservation }),
  schema('get_user_details', 'Look a user up, with payment methods and reservation ids.', {
    user_id: user,
  }),
  schema('list_all_airports', 'List the airports with their cities.'),
  schema('search_direct_flight', 'Find direct flights that can be booked on a day.', {
    origin,
    destination,
    date,
  }),
  schema('search_onestop_flight', 'Find connections with one stop that can be booked on a day.', {
    origin,
    destination,
    date,
  }),
  schema('send_certificate', 'Give a travel certificate to a user.', {
    user_id: user,
    amount: number('Amount in dollars.'),
  }),
  TRANSFER,
  schema('update_reservation_baggages', 'Change the bags of a reservation; added paid bags are charged.', {
    reservation_id: reservation,
    total_baggages: total,
    nonfree_baggages: nonfree,
    payment_id: payment,
  }),
  schema(
    'update_reservation_flights',
    'Change flights or cabin of a reservation; the difference is charged.',
    {
      reservation_id: reservation,
      cabin,
      flights: flights('Every flight segment of the new reservation, unchanged ones too.'),
      payment_id: payment,
    },
  ),
  schema('update_reservation_passengers', 'Change who travels; the number of passengers stays.', {
    reservation_id: reservation,
    passengers,
  }),
  schema(
    'get_flight_status',
    'Look up whether a flight is available, on time, delayed, landed or cancelled.',
    {
      flight_number: text('Flight number, such as HAT001.'),
      date,
    },
  ),
];
