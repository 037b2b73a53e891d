/** Dialogs and menus on the browser's own elements, which keep the focus and close on Escape. */
import type { ComponentChildren, JSX } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Button } from './basics.tsx';
import { Icon, type IconName } from './icon.tsx';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

export function Dialog({ title, onClose, children }: DialogProps): JSX.Element {
  const element = useRef<HTMLDialogElement>(null);
  const heading = useId();
  // Layout effects here: the next key is for the dialog or the menu, also before they are painted.
  useLayoutEffect(() => {
    const before = document.activeElement;
    element.current?.showModal();
    // The browser would choose the button that closes the dialog. A long dialog begins at its top.
    element.current?.querySelector<HTMLElement>('.dialog-body input')?.focus({ preventScroll: true });
    return () => {
      // The browser returned the focus when the dialog closed. The reader may have moved it since.
      if (element.current?.open && before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      aria-labelledby={heading}
      onClose={onClose}
      onClick={(event) => event.target === element.current && element.current?.close()}
    >
      <header>
        <h2 id={heading}>{title}</h2>
        <Button kind="quiet" icon="close" label="Close" onClick={() => element.current?.close()} />
      </header>
      <div class="dialog-body">{children}</div>
    </dialog>
  );
}

interface MenuProps {
  readonly label: string;
  readonly text: string;
  readonly icon?: IconName;
  readonly class?: string;
  /** A key that opens the menu is bound by the caller through this element id. */
  readonly id?: string;
  readonly children: (close: () => void) => ComponentChildren;
}

/** A button with a panel below it. */
export function Menu({ label, text, icon, class: className, id, children }: MenuProps): JSX.Element {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const panel = useId();
  const close = (): void => {
    setOpen(false);
    button.current?.focus();
  };
  useLayoutEffect(() => {
    if (!open) return;
    box.current?.querySelector<HTMLElement>('.menu-panel button, .menu-panel a, .menu-panel input')?.focus();
    const outside = (event: Event): void => {
      if (event.target instanceof Node && box.current?.contains(event.target) === false) setOpen(false);
    };
    addEventListener('pointerdown', outside);
    addEventListener('focusin', outside);
    return () => {
      removeEventListener('pointerdown', outside);
      removeEventListener('focusin', outside);
    };
  }, [open]);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (!open) return;
    if (event.key === 'Escape') {
      event.preventDefault();
      close();
    } else if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && !isTyped(event.target)) {
      event.preventDefault();
      step(box.current, event.key === 'ArrowDown' ? 1 : -1);
    }
  };
  const name = text === '' ? label : `${label}: ${text}`;
  return (
    <div class={`menu ${className ?? ''}`} ref={box} onKeyDown={onKeyDown}>
      <button
        type="button"
        class="button quiet"
        id={id}
        ref={button}
        aria-label={name}
        title={name}
        aria-expanded={open}
        aria-controls={open ? panel : undefined}
        onClick={() => setOpen(!open)}
      >
        {icon === undefined ? null : <Icon name={icon} />}
        <span class="menu-text">{text}</span>
        <Icon name="down" size={12} />
      </button>
      {open ? (
        <div class="menu-panel" id={panel}>
          {children(close)}
        </div>
      ) : null}
    </div>
  );
}

/** The arrows change its value. */
const isTyped = (target: EventTarget | null): boolean =>
  target instanceof HTMLInputElement && target.type !== 'checkbox';

function step(box: HTMLElement | null, by: number): void {
  const items = [
    ...(box?.querySelectorAll<HTMLElement>('.menu-panel button, .menu-panel a, .menu-panel input[type=checkbox]') ??
      []),
  ];
  const at = items.indexOf(document.activeElement as HTMLElement);
  items[(at + by + items.length) % items.length]?.focus();
}
