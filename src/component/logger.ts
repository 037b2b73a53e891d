/**
 * The logger of components, implemented with pino. Fields first, then a sentence. The sentence never contains data of a
 * client.
 */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
