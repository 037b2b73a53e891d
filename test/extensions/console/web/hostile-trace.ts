/** A trace and log records whose texts try to run a script, to load something, or to break the page. */
import { randomBytes } from 'node:crypto';

const SCRIPT = 'window.hostile = (window.hostile ?? 0) + 1';

const PAYLOADS: readonly string[] = [
  `<script>${SCRIPT}</script>`,
  `<img src=x onerror="${SCRIPT}">`,
  `<svg onload="${SCRIPT}">`,
  `"><iframe src="javascript:${SCRIPT}"></iframe>`,
  `javascript:${SCRIPT}`,
  `[link](javascript:${SCRIPT}) ![picture](https://attacker.example/p.png) <https://attacker.example/>`,
  `<style>@import url(https://attacker.example/a.css)</style>`,
  `<meta http-equiv=refresh content="0;url=https://attacker.example/">`,
  `\${${SCRIPT}} {{constructor.constructor('${SCRIPT}')()}} <%= 1 %>`,
  '__proto__',
  'constructor',
  'toString',
  `data:text/html,<script>${SCRIPT}</script>`,
  'data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+',
  '\u202egnp.exe\u202c \u2066x\u2069 \u200b\u200d\ufeff',
  `e${'\u0301'.repeat(10_000)}`,
  '\u0007\u001b[31mred\u001b[0m\r\nnext\ttab',
  '=HYPERLINK("https://attacker.example")',
  '%00%0a../../etc/passwd',
  `${'['.repeat(100)}${']'.repeat(100)}`,
  `{"role":"user","content":"<b onmouseover='${SCRIPT}'>x</b>"}`,
  '| a | b |\n|---|---|\n| <script>1</script> | `x` |\n\n# head\n\n- [ ] x\n\n```html\n<script>1</script>\n```',
  '&lt;b&gt; &amp; &nbsp; &copy; &none; &; [&lt;](https://attacker.example/?a&amp;b "&quot;") `&lt;`',
  '\u{1f468}\u200d\u{1f469}\u200d\u{1f467} \u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627',
];
const LONG = 'x'.repeat(20_000);

const value = (text: string) => ({ stringValue: text });
const attribute = (key: string, text: string) => ({ key, value: value(text) });
const payload = (at: number): string => PAYLOADS[at % PAYLOADS.length] ?? '';

interface HostileTrace {
  readonly traceId: string;
  readonly requests: readonly { readonly path: string; readonly body: object }[];
}

/** Every text column is filled; each span has other payloads. */
export function hostileTrace(nowMs: number, conversation: string): HostileTrace {
  const traceId = randomBytes(16).toString('hex');
  const root = randomBytes(8).toString('hex');
  const ns = (ms: number): string => String(BigInt(Math.floor(nowMs) - 10_000 + ms) * 1_000_000n);
  const spans = PAYLOADS.map((name, at) => ({
    traceId,
    spanId: at === 0 ? root : randomBytes(8).toString('hex'),
    ...(at === 0 ? {} : { parentSpanId: root }),
    name,
    kind: 3,
    startTimeUnixNano: ns(at * 10),
    endTimeUnixNano: ns(5_000 - at),
    attributes: attributesOf(at, conversation),
    events: [{ name, timeUnixNano: ns(at), attributes: [attribute(payload(at + 1), name)] }],
    status: { code: 2, message: name },
  }));
  const resource = { attributes: [attribute('service.name', payload(1)), attribute('host.name', payload(14))] };
  const logRecords = PAYLOADS.map((text, at) => ({
    timeUnixNano: ns(at),
    severityNumber: 17,
    severityText: payload(at + 2).slice(0, 200),
    eventName: payload(at + 3).slice(0, 200),
    body: value(text),
    traceId,
    spanId: root,
    attributes: [attribute(payload(at + 4), text)],
  }));
  const requests = [
    {
      path: '/v1/traces',
      body: { resourceSpans: [{ resource, scopeSpans: [{ scope: { name: payload(2) }, spans }] }] },
    },
    { path: '/v1/logs', body: { resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] } },
    { path: '/v1/metrics', body: { resourceMetrics: [{ resource, scopeMetrics: [{ metrics: metricsAt(ns(0)) }] }] } },
  ];
  return { traceId, requests };
}

function attributesOf(at: number, conversation: string): readonly object[] {
  const text = payload(at);
  const message = JSON.stringify([{ role: text, parts: [{ type: 'text', content: `${text}\n${LONG}` }] }]);
  const call = JSON.stringify([
    { role: 'assistant', parts: [{ type: 'tool_call', id: text, name: text, arguments: { [text]: text } }] },
  ]);
  return [
    attribute('gen_ai.operation.name', ['chat', 'execute_tool', 'invoke_agent', 'retrieval'][at % 4] ?? 'chat'),
    attribute('gen_ai.provider.name', text),
    attribute('gen_ai.request.model', text),
    attribute('gen_ai.response.id', `${at}`),
    attribute('gen_ai.agent.name', text),
    attribute('gen_ai.tool.name', text),
    attribute('gen_ai.tool.call.id', text),
    attribute('gen_ai.tool.call.arguments', text),
    attribute('gen_ai.tool.call.result', text),
    attribute('gen_ai.conversation.id', conversation),
    attribute('user.id', text),
    attribute('error.type', text),
    attribute('gen_ai.system_instructions', text),
    attribute('gen_ai.input.messages', message),
    attribute('gen_ai.output.messages', call),
    attribute(text, text),
    { key: 'gen_ai.usage.input_tokens', value: { intValue: '10' } },
    { key: 'gen_ai.usage.output_tokens', value: { intValue: '5' } },
  ];
}

/** Each name, unit and description is a payload, and each has another payload as its attribute. */
const metricsAt = (timeUnixNano: string): readonly object[] =>
  PAYLOADS.map((text, at) => ({
    name: text,
    unit: payload(at + 1).slice(0, 200),
    description: payload(at + 2),
    gauge: { dataPoints: [{ timeUnixNano, asDouble: at, attributes: [attribute(payload(at + 3), text)] }] },
  }));
