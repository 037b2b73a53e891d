/** The login page. A link works once; its token is in the fragment and leaves the address bar before it is sent. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { send } from '../data/api.ts';
import { asApiError } from '../data/resource.ts';
import { Button, Lines } from '../parts/basics.tsx';
import { open, place } from '../state/location.ts';
import { loadMe } from '../state/session.ts';

type Progress = { readonly state: 'idle' | 'busy' } | { readonly state: 'failed'; readonly message: string };

export function LoginPage(): JSX.Element {
  const [progress, setProgress] = useState<Progress>({ state: 'idle' });
  const [pasted, setPasted] = useState('');
  const logIn = async (token: string): Promise<void> => {
    setProgress({ state: 'busy' });
    try {
      await send('POST', '/session', { link: token });
      const { path } = place.value;
      if (path === '/login') open('/', true);
      await loadMe();
    } catch (failure) {
      setProgress({ state: 'failed', message: asApiError(failure).message });
    }
  };
  useEffect(() => {
    const { path, hash } = place.value;
    if (path !== '/login' || hash === '') return;
    open('/login', true);
    void logIn(hash);
  }, [place.value.hash]);
  const submit = (event: Event): void => {
    event.preventDefault();
    const token = tokenOf(pasted);
    if (token === '') setProgress({ state: 'failed', message: 'This is no link of `sluice console`.' });
    else void logIn(token);
  };
  return (
    <main class="login">
      <h1>Sluice</h1>
      {progress.state === 'busy' ? (
        <p role="status">Logging in …</p>
      ) : (
        <form onSubmit={submit}>
          {progress.state === 'failed' ? (
            <p class="failure" role="alert">
              <strong>The login failed.</strong> {progress.message}
            </p>
          ) : null}
          <p>Run this on the machine of the daemon and open the link that it prints:</p>
          <Lines text="sluice console" label="command" />
          <label>
            Or paste the link
            <input
              type="text"
              autocomplete="off"
              spellcheck={false}
              value={pasted}
              onInput={(event) => setPasted(event.currentTarget.value)}
            />
          </label>
          <p class="actions">
            <Button kind="main" onClick={submit}>
              Log in
            </Button>
          </p>
          {isLoopback() ? <WithoutLogin /> : null}
        </form>
      )}
    </main>
  );
}

function WithoutLogin(): JSX.Element {
  return (
    <details>
      <summary>Use the console without a login</summary>
      <p>On a machine of your own, the configuration can switch it off:</p>
      <Lines text={'extensions:\n  console:\n    auth: { mode: none }'} label="configuration" />
    </details>
  );
}

/** The token of a pasted link, or of a pasted token. */
function tokenOf(text: string): string {
  const [, fragment] = text.trim().split('#');
  return (fragment ?? text).trim();
}

const isLoopback = (): boolean => /^(?:localhost|.*\.localhost|127\.[\d.]+|\[::1\])$/u.test(location.hostname);
