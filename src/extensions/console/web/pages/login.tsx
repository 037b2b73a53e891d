/** The login page. A link works once; its token is in the fragment and leaves the address bar before it is sent. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { send } from '../data/api.ts';
import { useChanges } from '../data/change.ts';
import { Button, Lines } from '../parts/basics.tsx';
import { Problem } from '../parts/states.tsx';
import { open, place } from '../state/location.ts';
import { loadMe } from '../state/session.ts';

export function LoginPage(): JSX.Element {
  const [isBusy, setBusy] = useState(false);
  const [pasted, setPasted] = useState('');
  const { problem, change } = useChanges(() => setBusy(false));
  const logIn = (token: string): void => {
    setBusy(true);
    void change(async () => {
      if (token === '') throw new Error('This is no link of `sluice console`.');
      await send('POST', '/session', { link: token });
      if (place.value.path === '/login') open('/', true);
      await loadMe();
    });
  };
  useEffect(() => {
    const { path, hash } = place.value;
    if (path !== '/login' || hash === '') return;
    open('/login', true);
    logIn(hash);
  }, [place.value.hash]);
  const submit = (event: Event): void => {
    event.preventDefault();
    logIn(tokenOf(pasted));
  };
  return (
    <main class="login">
      <h1>Sluice</h1>
      {isBusy ? (
        <p role="status">Logging in …</p>
      ) : (
        <form onSubmit={submit}>
          <Problem text={problem} />
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
