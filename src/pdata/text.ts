/** A text in linear memory: where it lies and how it is written (TEXT_… flags of layout.ts). Small and short-lived; hot loops pass the three numbers instead. */
export interface TextRef {
  readonly offset: number;
  readonly length: number;
  readonly flags: number;
}
