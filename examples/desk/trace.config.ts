import { defineConfig } from 'trace-agents';

/** The embedded target with its small base model: the whole method on a laptop, in minutes. */
export default defineConfig({
  target: 'desk',
  model: 'desk-base',
});
