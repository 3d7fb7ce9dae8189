export { startWorker } from '../../../run/start-worker.js';
