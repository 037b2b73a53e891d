/** Text as one word of a shell's command line. Quoted only where it must be, for lines that people read and paste. */
export function shellWord(text: string): string {
  return /^[\p{L}\p{N}_.,:=@%+/-]+$/u.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
