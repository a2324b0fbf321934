// The MCP conformance suite against `reins serve`: every server scenario that it has, in every protocol revision.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, request as sendRequest } from 'node:http';
import { join } from 'node:path';
import { installNode22, installPinned } from './support/install-pinned.mjs';
import { runPart } from './support/part.mjs';
import { startServe } from './support/reins.mjs';
import { runProgram } from './support/run-program.mjs';

/** A pre-release, because the newest release knows no revision after 2025-11-25. It has all scenarios of that one. */
const CONFORMANCE = { name: '@modelcontextprotocol/conformance', version: '0.2.0-alpha.12' };

const REVISIONS = ['2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'];
/** The suite's own choice of revisions, which alone includes the scenarios of extensions. */
const ANY_REVISION = 'any';

const NO_TEST_TOOL = 'it calls a test tool of the suite, and this server has its six tools only';
const NO_RESOURCES = 'there are no resources';
const NO_PROMPTS = 'there are no prompts';

/**
 * Scenarios that have to succeed in full, in each revision that has them: no failed, skipped or doubtful check. `except`
 * names the checks that cannot succeed here, with the reason; one that succeeds after all has to leave this table.
 */
const APPLIES = {
  'server-initialize': {},
  ping: {},
  'tools-list': {},
  'dns-rebinding-protection': {},
  'http-header-validation': {},
  'input-required-result-unsupported-methods': {},
  'server-sse-multiple-streams@2026-07-28': {},
  'server-stateless': {
    except: {
      'sep-2575-server-rejects-undeclared-capability': NO_TEST_TOOL,
      'sep-2575-missing-capability-http-400': NO_TEST_TOOL,
      'sep-2575-http-server-no-independent-requests-on-stream': NO_TEST_TOOL,
      'sep-2575-server-no-log-without-loglevel': NO_TEST_TOOL,
      'sep-2575-server-sends-prompts-list-changed-on-subscription': NO_PROMPTS,
      'sep-2575-server-sends-tools-list-changed-on-subscription': 'the list of tools never changes',
    },
  },
  caching: {
    except: {
      'sep-2549-prompts-list-caching-hints': NO_PROMPTS,
      'sep-2549-resources-list-caching-hints': NO_RESOURCES,
      'sep-2549-resources-templates-list-caching-hints': NO_RESOURCES,
      'sep-2549-resources-read-caching-hints': NO_RESOURCES,
    },
  },
};

/**
 * Scenarios that do not apply, by reason. They run all the same: the suite's own check that everything on the wire is
 * valid for the revision has to succeed in them too, refusals included.
 */
const DOES_NOT_APPLY = {
  [NO_TEST_TOOL]: [
    'tools-call-simple-text',
    'tools-call-image',
    'tools-call-audio',
    'tools-call-embedded-resource',
    'tools-call-mixed-content',
    'tools-call-error',
    'tools-call-with-progress',
    'json-schema-2020-12',
  ],
  'the server never logs to its client': ['logging-set-level', 'tools-call-with-logging'],
  'the server never asks its client for a completion or an input': [
    'tools-call-sampling',
    'tools-call-elicitation',
    'elicitation-sep1034-defaults',
    'elicitation-sep1330-enums',
    'input-required-result-basic-elicitation',
    'input-required-result-basic-sampling',
    'input-required-result-basic-list-roots',
    'input-required-result-request-state',
    'input-required-result-multiple-input-requests',
    'input-required-result-multi-round',
    'input-required-result-missing-input-response',
    'input-required-result-non-tool-request',
    'input-required-result-result-type',
    'input-required-result-tampered-state',
    'input-required-result-capability-check',
    'input-required-result-ignore-extra-params',
    'input-required-result-validate-input',
  ],
  'the server completes no arguments': ['completion-complete'],
  [NO_RESOURCES]: [
    'resources-list',
    'resources-read-text',
    'resources-read-binary',
    'resources-templates-read',
    'resources-subscribe',
    'resources-unsubscribe',
    'sep-2164-resource-not-found',
  ],
  [NO_PROMPTS]: [
    'prompts-list',
    'prompts-get-simple',
    'prompts-get-with-args',
    'prompts-get-embedded-resource',
    'prompts-get-with-image',
  ],
  'requests are complete in themselves: there are no transport sessions, and a call is repeated instead of resumed':
    ['server-session-lifecycle', 'server-sse-polling', 'server-sse-multiple-streams'],
  'no parameter is passed as a header': ['http-custom-header-server-validation'],
  'the extension is not offered': [
    'sep-2640-skills-directory',
    'sep-2640-skills-enumeration',
    'sep-2640-skills-manifest',
    'tasks-lifecycle',
    'tasks-capability-negotiation',
    'tasks-wire-fields',
    'tasks-request-state-removal',
    'tasks-mrtr-input',
    'tasks-request-headers',
    'tasks-dispatch-and-envelope',
    'tasks-status-notifications',
    'tasks-required-task-error',
    'tasks-mrtr-composition',
  ],
};

const WIRE_CHECK = 'wire-schema-valid';

await runPart('conformance', async ({ home, say }) => {
  const node = installNode22(say);
  const conformance = installPinned(CONFORMANCE.name, CONFORMANCE.version, say);
  const run = (args) =>
    runProgram(node, [join(conformance, 'dist', 'index.js'), ...args], {
      env: home.env,
      cwd: home.root,
      timeoutMs: 240_000,
    });

  const { stdout: listing } = await run(['list', '--server']);
  const listed = [...listing.matchAll(/^ {2}- (\S+) \[/gm)].map(([, scenario]) => scenario);
  assert.ok(listed.length > 0, listing);

  const serve = await startServe(home);
  const proxy = await startAuthorizingProxy(serve);
  const seen = new Set();
  const used = new Set();
  const problems = [];
  try {
    for (const revision of [...REVISIONS, ANY_REVISION]) {
      const results = join(home.root, 'results', revision);
      const choice = revision === ANY_REVISION ? [] : ['--spec-version', revision];
      const suite = ['server', '--url', proxy.url, '--suite', 'all', '--output-dir', results];
      const { stderr } = await run([...suite, ...choice]);
      const count = { applies: 0, successes: 0, others: 0 };
      for (const { scenario, checks } of readResults(results)) {
        seen.add(scenario);
        const rule = findRule(scenario, revision);
        used.add(rule?.key);
        const found = rule === undefined ? ['is in neither list'] : judge(rule, checks);
        problems.push(...found.map((problem) => `${revision} ${scenario}: ${problem}`));
        if (rule?.applies) {
          count.applies += 1;
          count.successes += checks.filter(({ status }) => status === 'SUCCESS').length;
        } else {
          count.others += 1;
        }
      }
      assert.ok(count.applies + count.others > 0, `nothing ran in ${revision}: ${stderr}`);
      say(
        `${revision}: ${count.applies} scenarios apply (${count.successes} checks), ${count.others} do not`,
      );
    }
  } finally {
    await proxy.close();
    await serve.close();
  }
  problems.push(
    ...listed.filter((name) => !seen.has(name)).map((name) => `${name}: is listed and did not run`),
    ...allRules()
      .filter(({ key }) => !used.has(key))
      .map(({ key }) => `${key}: is in a list here and never ran`),
  );
  assert.deepEqual(problems, []);
  say(`${seen.size} of ${listed.length} scenarios ran`);
  for (const [reason, scenarios] of Object.entries(DOES_NOT_APPLY)) {
    say(`${scenarios.length} do not apply: ${reason}`);
  }
});

function allRules() {
  return [
    ...Object.entries(APPLIES).map(([key, { except = {} }]) => ({ key, applies: true, except })),
    ...Object.values(DOES_NOT_APPLY)
      .flat()
      .map((key) => ({ key, applies: false, except: {} })),
  ];
}

/** A rule for a scenario in one revision comes before the rule for the scenario. */
function findRule(scenario, revision) {
  const rules = allRules();
  return (
    rules.find(({ key }) => key === `${scenario}@${revision}`) ??
    rules.find(({ key }) => key === scenario)
  );
}

/** @returns {string[]} what is wrong */
function judge({ applies, except }, checks) {
  const judged = checks.filter(({ status }) => status !== 'INFO');
  if (!applies) {
    return judged
      .filter(({ id, status }) => id === WIRE_CHECK && status !== 'SUCCESS')
      .map(describe);
  }
  const successes = judged.filter(({ status }) => status === 'SUCCESS');
  const excepted = Object.keys(except).filter(
    (id) => !judged.some((check) => check.id === id && check.status !== 'SUCCESS'),
  );
  return [
    ...judged.filter(({ id, status }) => status !== 'SUCCESS' && !(id in except)).map(describe),
    ...excepted.map((id) => `${id} is excepted and did not fail`),
    ...(successes.some(({ id }) => id !== WIRE_CHECK) ? [] : ['nothing was checked']),
  ];
}

function describe({ id, status, errorMessage, details }) {
  return `${id} ${status} ${errorMessage ?? JSON.stringify(details ?? {})}`;
}

/** One folder for each scenario: `server-NAME-TIME`, with its checks. */
function readResults(folder) {
  return readdirSync(folder).map((name) => ({
    scenario: name.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, ''),
    checks: JSON.parse(readFileSync(join(folder, name, 'checks.json'), 'utf8')),
  }));
}

/** The suite sends no Authorization header: this adds it and passes everything else on as it is, Host included. */
async function startAuthorizingProxy({ url, token }) {
  const { hostname, port } = new URL(url);
  const server = createServer((request, response) => {
    const upstream = sendRequest(
      {
        ...{ hostname, port, method: request.method, path: request.url },
        headers: { ...request.headers, authorization: `Bearer ${token}` },
      },
      (answer) => {
        response.writeHead(answer.statusCode, answer.headers);
        answer.pipe(response);
      },
    );
    upstream.on('error', () => response.destroy());
    response.on('close', () => upstream.destroy());
    request.pipe(upstream);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/mcp`,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
