/** A project without traces: the lines that send some. It becomes the list when the first trace is stored. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { NewKeyShape } from '../../../api/shapes/management.ts';
import { projectPath, send } from '../../data/api.ts';
import { useChanges } from '../../data/change.ts';
import { useInterval } from '../../data/resource.ts';
import { Button, Lines, Name, Tabs } from '../../parts/basics.tsx';
import { Problem } from '../../parts/states.tsx';
import { sdkLines } from '../../text/sdk-lines.ts';
import { may, me } from '../../state/session.ts';

const POLL_MS = 1_500;
const KEY = 'YOUR_API_KEY';
const ENDPOINT = 'http://127.0.0.1:4318';

const LANGUAGES: readonly (readonly [string, string])[] = [
  [
    'Python',
    'pip install opentelemetry-distro opentelemetry-exporter-otlp\nopentelemetry-bootstrap -a install\nopentelemetry-instrument python app.py',
  ],
  [
    'Node.js',
    'npm install @opentelemetry/api @opentelemetry/auto-instrumentations-node\nnode --require @opentelemetry/auto-instrumentations-node/register app.js',
  ],
  ['Go', 'go get go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp\ngo run .'],
  ['Java', 'java -javaagent:opentelemetry-javaagent.jar -jar app.jar'],
  ['Demo', 'sluice demo'],
];

export function SetUp({ project, onArrival }: { project: string; onArrival: () => void }): JSX.Element {
  const [made, setMade] = useState<NewKeyShape | null>(null);
  const { problem, change } = useChanges();
  const [language, setLanguage] = useState('Python');
  useInterval(onArrival, POLL_MS);
  const create = (): Promise<void> =>
    change(async () => {
      setMade(await send<NewKeyShape>('POST', projectPath(project, 'keys'), { label: 'first key' }));
    });
  return (
    <div class="set-up">
      <h1>
        Send the first trace to <Name text={project} />
      </h1>
      <p>Any OpenTelemetry SDK can send, with these lines in the environment of the application:</p>
      <Lines text={sdkLines(made?.endpoint ?? me.value?.endpoint ?? ENDPOINT, made?.key ?? KEY)} label="environment" />
      {made !== null ? (
        <p role="status">The key is in the lines above. It is shown only once.</p>
      ) : may('editor') ? (
        <p class="actions">
          <Button kind="main" onClick={() => void create()}>
            Create an API key
          </Button>
          <span class="muted">or use one of this project</span>
        </p>
      ) : (
        <p>Ask an admin for an API key.</p>
      )}
      <Problem text={problem} />
      <Tabs
        legend="Language"
        options={LANGUAGES.map(([name]) => [name, name])}
        chosen={language}
        onChoose={setLanguage}
      />
      <Lines text={LANGUAGES.find(([name]) => name === language)?.[1] ?? ''} label="commands" />
      <p class="waiting" role="status">
        <span class="dot" aria-hidden="true" /> Waiting for the first trace. This page shows it by itself.
      </p>
    </div>
  );
}
