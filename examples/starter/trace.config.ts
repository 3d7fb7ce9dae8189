import { defineConfig } from 'trace-agents';

export default defineConfig({
  // The embedded target and its small base model: runs as it is. For your own agent name your environment and a
  // Hugging Face folder of the Qwen3 family:
  //   target: './environment.ts',
  //   model: '/path/to/the/model/folder',
  target: 'desk',
  model: 'desk-base',
});
