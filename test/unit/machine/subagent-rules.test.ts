import fc from 'fast-check';
import { expect, test } from 'vitest';
import { objectToReply, SUBAGENT_START } from '../../../src/machine/subagent-rules.ts';
import { toolsFor } from '../../../src/tools/tool-set.ts';

const ALL = toolsFor('worktree_write', 'deepseek_explicit').map(({ name }) => name);
const ALLOWED = [
  'Read',
  'FindFiles',
  'SearchText',
  'deepseek_subagent_get',
  'deepseek_subagent_stop',
];

test('N32 each tool of a session is either free or locked while a subagent works', () => {
  const free = ALL.filter(
    (tool) =>
      objectToReply({ isSubagentActive: true, isSummary: false, tools: [tool] }) === undefined,
  );
  expect(free.sort()).toEqual([...ALLOWED].sort());
});

test('N31 N32 whatever a reply calls: a start stands alone, and nothing gets past the lock', () => {
  const reply = fc.record({
    isSubagentActive: fc.boolean(),
    isSummary: fc.boolean(),
    tools: fc.array(fc.constantFrom(...ALL, 'Unheard'), { maxLength: 5 }),
  });
  fc.assert(
    fc.property(reply, (asked) => {
      const objection = objectToReply(asked);
      const { tools, isSubagentActive, isSummary } = asked;
      const mayPass =
        !(tools.includes(SUBAGENT_START) && tools.length > 1) &&
        (!isSubagentActive ||
          (tools.length > 0 ? tools.every((tool) => ALLOWED.includes(tool)) : isSummary));
      expect(objection === undefined).toBe(mayPass);
      if (objection?.kind === 'locked') expect(ALLOWED).not.toContain(tools[objection.position]);
    }),
    { numRuns: 2_000 },
  );
});
