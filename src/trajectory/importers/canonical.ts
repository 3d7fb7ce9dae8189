export { readTrajectories as importCanonical } from '../store.js';
