/** τ-bench results in small: tasks with two trials each, one of them passed. */
export function tauResults(tasks: number, trials = 2): object[] {
  return Array.from({ length: tasks * trials }, (_, i) => result(Math.floor(i / trials), i % trials));
}

function result(task: number, trial: number): object {
  const passed = (task + trial) % 2 === 0;
  const right = `#W${task}1`;
  const cancelled = passed ? right : `#W${task}2`;
  const call = (id: string, name: string, args: object) => ({
    role: 'assistant',
    content: null,
    tool_calls: [{ id, type: 'function', function: { name, arguments: JSON.stringify(args) } }],
  });
  return {
    task_id: task,
    trial,
    reward: passed ? 1 : 0,
    info: { task: { actions: [{ name: 'cancel_order', kwargs: { order_id: right } }], outputs: [] } },
    traj: [
      {
        role: 'system',
        content: 'You help people with what they ordered. Look things up before you change them.',
      },
      {
        role: 'user',
        content: `I am user_${task}. Please cancel the last thing that I bought, number ${task}.`,
      },
      call('a', 'get_user', { user_id: `user_${task}` }),
      {
        role: 'tool',
        tool_call_id: 'a',
        name: 'get_user',
        content: JSON.stringify({ orders: [`#W${task}1`, `#W${task}2`] }),
      },
      {
        role: 'assistant',
        content: `I have found two of them for user_${task}; the later one is ${cancelled}.`,
      },
      { role: 'user', content: 'Yes, that one.' },
      call('b', 'cancel_order', { order_id: cancelled }),
      { role: 'tool', tool_call_id: 'b', name: 'cancel_order', content: '{"status":"cancelled"}' },
      { role: 'assistant', content: `It is done: ${cancelled} has been cancelled in trial ${trial}.` },
      { role: 'user', content: '###STOP###' },
    ],
  };
}
