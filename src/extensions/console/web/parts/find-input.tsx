/** The input for a text to find, which the key `/` reaches. */
import type { JSX, TargetedKeyboardEvent } from 'preact';

interface FindInputProps {
  readonly label: string;
  readonly placeholder: string;
  readonly text: string;
  setText(text: string): void;
  onKeyDown?(event: TargetedKeyboardEvent<HTMLInputElement>): void;
}

export function FindInput({ label, placeholder, text, setText, onKeyDown }: FindInputProps): JSX.Element {
  return (
    <input
      data-search
      type="search"
      aria-label={label}
      placeholder={placeholder}
      spellcheck={false}
      value={text}
      onInput={(event) => setText(event.currentTarget.value)}
      onKeyDown={(event) => event.isComposing || onKeyDown?.(event)}
    />
  );
}
