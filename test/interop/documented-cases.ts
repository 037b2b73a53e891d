/** How the blocks of docs/sdks.md become programs: what the reader's own application adds around each of them. */
import { codeBlocks, section } from '../docs/markdown.ts';
import type { Installed } from './documented-install.ts';

export interface Blocks {
  readonly sh: readonly string[];
  readonly code: readonly string[];
  readonly page: string;
}

export interface Case {
  readonly name: string;
  /** Null: the beginning of the page. */
  readonly heading: string | null;
  readonly language: string;
  /** Which blocks of the section it runs, by their number among those of their language. */
  readonly blocks: { readonly sh?: readonly number[]; readonly code?: readonly number[] };
  /** The row of the table of versions; null: nothing is installed. */
  readonly versions: string | null;
  readonly service: string;
  /** The variables of the beginning of the page are set. */
  readonly withEnvironment: boolean;
  readonly needsGrpcPort: boolean;
  readonly inDaemonFolder: boolean;
  /** Columns of rows that must be stored. */
  readonly stores: readonly Readonly<Record<string, unknown>>[];
  program(
    blocks: Blocks,
    installed: Installed,
  ): { readonly files: Readonly<Record<string, string>>; readonly line: string };
}

const COMMON = { withEnvironment: true, needsGrpcPort: false, inDaemonFolder: false } as const;
const JS_SETUP = (page: string): string => codeBlocks(section(page, '## JavaScript and TypeScript'), 'js')[0] ?? '';
const PYTHON_SETUP = (page: string): string => codeBlocks(section(page, '## Python'), 'python')[0] ?? '';
const MODEL_CALL = { operation: 'chat', request_model: 'gpt-5-mini', input_tokens: 11, output_tokens: 7 } as const;
const PERSONS = { user_id: 'u-1', conversation_id: 'c-1' } as const;
const OPENAI_JS = `import { createOpenAI } from '@ai-sdk/openai';
const model = createOpenAI({ baseURL: process.env.MODEL_URL }).chat('gpt-5-mini');
const prompt = 'Hello';
`;
const OPENAI_PY = `
import os
from openai import OpenAI
client = OpenAI(base_url=os.environ["MODEL_URL"])
client.chat.completions.create(model="gpt-5-mini", messages=[{"role": "user", "content": "Hello"}])
`;

export const CASES: readonly Case[] = [
  {
    ...COMMON,
    name: 'JavaScript',
    heading: '## JavaScript and TypeScript',
    language: 'js',
    blocks: { sh: [0], code: [0] },
    versions: 'JavaScript and TypeScript',
    service: 'docs-javascript',
    stores: [{ name: 'hello', signal: 'span' }],
    program: ({ code }) => ({
      files: {
        'app.js': `${code[0]}
import { trace } from '@opentelemetry/api';
trace.getTracer('docs').startSpan('hello').end();
await sdk.shutdown();`,
      },
      line: 'node app.js',
    }),
  },
  {
    ...COMMON,
    name: 'Python',
    heading: '## Python',
    language: 'python',
    blocks: { sh: [0], code: [0] },
    versions: 'Python',
    service: 'docs-python',
    stores: [{ name: 'hello', signal: 'span' }],
    program: ({ code }) => ({
      files: { 'app.py': `${code[0]}\ntrace.get_tracer("docs").start_span("hello").end()\nprovider.shutdown()\n` },
      line: 'python3 app.py',
    }),
  },
  {
    ...COMMON,
    name: 'opentelemetry-instrument with its defaults',
    heading: '## Python',
    language: 'python',
    blocks: { sh: [1] },
    versions: 'Python',
    service: 'docs-instrument',
    withEnvironment: false,
    needsGrpcPort: true,
    stores: [{ name: 'hello', signal: 'span' }],
    program: ({ sh }) => ({
      files: { 'app.py': 'from opentelemetry import trace\ntrace.get_tracer("docs").start_span("hello").end()\n' },
      line: sh[0] ?? '',
    }),
  },
  {
    ...COMMON,
    name: 'opentelemetry-instrument with OpenAI',
    heading: '## Python',
    language: 'python',
    blocks: { sh: [2] },
    versions: 'Python, OpenAI',
    service: 'docs-instrument-openai',
    stores: [MODEL_CALL],
    program: ({ sh }) => ({ files: { 'app.py': OPENAI_PY }, line: sh[0] ?? '' }),
  },
  {
    ...COMMON,
    name: 'the agent for Java',
    heading: '## Java',
    language: 'java',
    blocks: { sh: [0] },
    versions: 'Java',
    service: 'docs-java-agent',
    stores: [{ signal: 'span', kind: 'client' }],
    program: ({ sh }, { folder }) => ({
      files: {
        'Shop.java': `import java.net.URI;
import java.net.http.*;
public class Shop {
  public static void main(String[] args) throws Exception {
    var request = HttpRequest.newBuilder(URI.create(System.getenv("MODEL_URL"))).build();
    HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
  }
}`,
      },
      line: `javac Shop.java && jar cfe shop.jar Shop Shop*.class && cp ${folder}/opentelemetry-javaagent.jar . && ${sh[0]}`,
    }),
  },
  {
    ...COMMON,
    name: 'Java',
    heading: '## Java',
    language: 'java',
    blocks: { code: [0] },
    versions: 'Java',
    service: 'docs-java',
    stores: [{ name: 'hello', signal: 'span' }],
    program: ({ code }, { folder }) => ({
      files: {
        'Snippet.java': `import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
public class Snippet {
  public static void main(String[] args) {
    ${code[0]}
    sdk.getTracer("docs").spanBuilder("hello").startSpan().end();
    sdk.close();
  }
}`,
      },
      line: `java -cp "${folder}/*" Snippet.java`,
    }),
  },
  {
    ...COMMON,
    name: 'Go',
    heading: '## Go',
    language: 'go',
    blocks: { sh: [0], code: [0] },
    versions: 'Go',
    service: 'docs-go',
    stores: [{ name: 'hello', signal: 'span' }],
    program: ({ code }) => ({
      files: {
        'main.go': `package main

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

func main() {
	ctx := context.Background()
	${code[0]}
	if err != nil {
		panic(err)
	}
	_, span := otel.Tracer("docs").Start(ctx, "hello")
	span.End()
}
`,
      },
      line: 'go run .',
    }),
  },
  {
    ...COMMON,
    name: 'Vercel AI SDK 6',
    heading: '## Vercel AI SDK',
    language: 'js',
    blocks: { code: [0] },
    versions: 'Vercel AI SDK, 6',
    service: 'docs-ai-6',
    stores: [{ ...MODEL_CALL, ...PERSONS }],
    program: ({ code, page }) => ({
      files: {
        'app.js': `${JS_SETUP(page)}\nimport { generateText } from 'ai';\n${OPENAI_JS}${code[0]}\nawait sdk.shutdown();`,
      },
      line: 'node app.js',
    }),
  },
  {
    ...COMMON,
    name: 'Vercel AI SDK 7',
    heading: '## Vercel AI SDK',
    language: 'js',
    blocks: { code: [1] },
    versions: 'Vercel AI SDK, 7',
    service: 'docs-ai-7',
    stores: [MODEL_CALL, { operation: 'invoke_agent', agent_name: 'support-agent', ...PERSONS }],
    program: ({ code, page }) => ({
      files: { 'app.js': `${JS_SETUP(page)}\n${OPENAI_JS}${code[0]}\nawait sdk.shutdown();` },
      line: 'node app.js',
    }),
  },
  {
    ...COMMON,
    name: 'OpenLLMetry',
    heading: '## OpenLLMetry',
    language: 'python',
    blocks: { sh: [0], code: [0] },
    versions: 'OpenLLMetry',
    service: 'shop',
    withEnvironment: false,
    stores: [{ ...MODEL_CALL, ...PERSONS }],
    program: ({ sh, code }) => ({ files: { 'app.py': `${code[0]}${OPENAI_PY}` }, line: `${sh[0]}\npython3 app.py` }),
  },
  {
    ...COMMON,
    name: 'OpenInference',
    heading: '## OpenInference',
    language: 'python',
    blocks: { sh: [0], code: [0] },
    versions: 'OpenInference',
    service: 'docs-openinference',
    stores: [MODEL_CALL],
    program: ({ code, page }) => ({
      files: { 'app.py': `${PYTHON_SETUP(page)}${code[0]}${OPENAI_PY}provider.shutdown()\n` },
      line: 'python3 app.py',
    }),
  },
  {
    ...COMMON,
    name: 'Langfuse SDK for JavaScript',
    heading: '## Langfuse SDK',
    language: 'js',
    blocks: { code: [0] },
    versions: 'Langfuse SDK, JavaScript',
    service: 'docs-langfuse-js',
    stores: [{ dialect: 'langfuse', category: 'model_call', ...PERSONS }],
    program: ({ code }) => ({
      files: {
        'app.js': `${code[0]}
import { propagateAttributes, startObservation } from '@langfuse/tracing';
propagateAttributes({ userId: 'u-1', sessionId: 'c-1' }, () =>
  startObservation('ask', { input: 'Hello', model: 'gpt-5-mini' }, { asType: 'generation' }).end());
await sdk.shutdown();`,
      },
      line: 'node app.js',
    }),
  },
  {
    ...COMMON,
    name: 'Langfuse SDK for Python',
    heading: '## Langfuse SDK',
    language: 'python',
    blocks: { code: [0] },
    versions: 'Langfuse SDK, Python',
    service: 'docs-langfuse-py',
    stores: [{ dialect: 'langfuse', category: 'model_call', ...PERSONS }],
    program: ({ code }) => ({
      files: {
        'app.py': `${code[0]}
from langfuse import propagate_attributes
with propagate_attributes(user_id="u-1", session_id="c-1"):
    with langfuse.start_as_current_observation(name="ask", as_type="generation", model="gpt-5-mini"):
        pass
trace.get_tracer_provider().shutdown()
`,
      },
      // Its own exporter gets a server that knows nothing of it.
      line: 'LANGFUSE_PUBLIC_KEY=pk LANGFUSE_SECRET_KEY=sk LANGFUSE_BASE_URL=$MODEL_URL python3 app.py',
    }),
  },
  {
    ...COMMON,
    name: 'the test of the connection',
    heading: '## Test the connection',
    language: 'js',
    blocks: { sh: [0] },
    versions: null,
    service: 'hello',
    withEnvironment: false,
    inDaemonFolder: true,
    stores: [{ name: 'hello', trace_id: '5b8efff798038103d269b633813fc60c' }],
    program: ({ sh }) => ({ files: {}, line: sh[0] ?? '' }),
  },
];
