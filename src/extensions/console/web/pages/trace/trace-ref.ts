/** Which trace a page shows. */
export interface TraceRef {
  readonly project: string;
  readonly id: string;
}
