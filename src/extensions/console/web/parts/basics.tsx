/** Small parts that many pages use: links, buttons, names, copying. */
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { copyText } from '../data/clipboard.ts';
import { open } from '../state/location.ts';
import { visible } from '../text/visible.ts';
import { Icon, type IconName } from './icon.tsx';

interface LinkProps {
  readonly href: string;
  readonly class?: string | undefined;
  readonly label?: string | undefined;
  readonly title?: string | undefined;
  readonly current?: boolean | undefined;
  /** Whether the tab key stops at it. Rows of a list are reached by the arrow keys. */
  readonly tabStop?: boolean | undefined;
  readonly children: ComponentChildren;
}

/** A link to another state of this page, opened without loading the page again. */
export function Link({ href, label, current, tabStop = true, children, ...rest }: LinkProps): JSX.Element {
  const onClick = (event: MouseEvent): void => {
    if (event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open(href);
  };
  const named = label === undefined ? {} : { 'aria-label': label };
  return (
    <a
      {...rest}
      {...named}
      href={href}
      onClick={onClick}
      tabIndex={tabStop ? 0 : -1}
      aria-current={current === true ? 'page' : undefined}
    >
      {children}
    </a>
  );
}

/** A text of a sender on one line. Characters that mislead are shown as their code. */
export function Name({ text, class: className }: { text: string; class?: string }): JSX.Element {
  const shown = visible(text);
  return (
    <bdi class={`name ${className ?? ''}`} title={shown}>
      {shown.trim() || '(no name)'}
    </bdi>
  );
}

interface ButtonProps {
  readonly icon?: IconName;
  readonly label?: string;
  readonly title?: string;
  readonly kind?: 'plain' | 'main' | 'quiet' | 'danger';
  readonly pressed?: boolean;
  readonly expanded?: boolean;
  readonly disabled?: boolean;
  readonly tabStop?: boolean;
  readonly onClick: (event: MouseEvent) => void;
  readonly children?: ComponentChildren;
}

export function Button({ icon, label, title, kind = 'plain', tabStop = true, ...rest }: ButtonProps): JSX.Element {
  return (
    <button
      type="button"
      class={`button ${kind}`}
      aria-label={label}
      title={title ?? label}
      aria-pressed={rest.pressed}
      aria-expanded={rest.expanded}
      disabled={rest.disabled}
      tabIndex={tabStop ? 0 : -1}
      onClick={rest.onClick}
    >
      {icon === undefined ? null : <Icon name={icon} />}
      {rest.children}
    </button>
  );
}

interface TabsProps<Value extends string> {
  readonly legend: string;
  readonly options: readonly (readonly [value: Value, text: string, title?: string])[];
  readonly chosen: Value;
  readonly onChoose: (value: Value) => void;
}

/** Buttons, one of which is pressed: the views of a page, the orders of a list. */
export function Tabs<Value extends string>({ legend, options, chosen, onChoose }: TabsProps<Value>): JSX.Element {
  return (
    <fieldset class="tabs">
      <legend>{legend}</legend>
      {options.map(([value, text, title]) => (
        <Button
          key={value}
          kind="quiet"
          pressed={value === chosen}
          {...(title === undefined ? {} : { title })}
          onClick={() => onChoose(value)}
        >
          {text}
        </Button>
      ))}
    </fieldset>
  );
}

const COPIED_MS = 1_500;

export function CopyButton({ text, label }: { text: string | (() => string); label: string }): JSX.Element {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), COPIED_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async (): Promise<void> => setCopied(await copyText(typeof text === 'string' ? text : text()));
  return (
    <Button
      kind="quiet"
      icon={copied ? 'check' : 'copy'}
      label={copied ? 'Copied' : label}
      onClick={() => void copy()}
    />
  );
}

/** Lines to paste into a shell, with a button that copies them. */
export function Lines({ text, label }: { text: string; label: string }): JSX.Element {
  return (
    <div class="lines">
      <pre tabIndex={0} role="region" aria-label={label}>
        {text}
      </pre>
      <CopyButton text={text} label={`Copy ${label}`} />
    </div>
  );
}

/** A short fact beside its name. */
export function Fact({ name, title, children }: FactProps): JSX.Element {
  return (
    <div class="fact" title={title}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

interface FactProps {
  readonly name: string;
  readonly title?: string;
  readonly children: ComponentChildren;
}

/** A name and its value in a list of them. */
export function Pair({ name, children }: { name: string; children: ComponentChildren }): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** A part of a page with its heading. */
export function Part({ title, children }: { title: string; children: ComponentChildren }): JSX.Element {
  return (
    <section class="part">
      <h2>{title}</h2>
      {children}
    </section>
  );
}
