/** Puts a text into the clipboard. */

/**
 * Whether the text was copied. Browsers offer the clipboard to pages with TLS or on a loopback address only. Elsewhere
 * the text replaces that of a copy command.
 */
export async function copyText(text: string): Promise<boolean> {
  if (isSecureContext)
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
  document.oncopy = (event) => {
    document.oncopy = null;
    event.preventDefault();
    event.clipboardData?.setData('text', text);
  };
  return document.execCommand('copy');
}
