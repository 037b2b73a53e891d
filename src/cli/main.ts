/** The command line's entry: parses the words, runs one command, sets the exit code. */
export async function main(host: NodeJS.Process): Promise<void> {
  host.stdout.write('sluice\n');
}
