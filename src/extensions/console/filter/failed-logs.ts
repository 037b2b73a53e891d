/** Log records that report a failure. */

/** SeverityNumber of ERROR in the log data model of OpenTelemetry. Higher numbers are worse. */
export const ERROR_SEVERITY = 17;

/** A condition of SQL on the log record `alias`. */
export const isFailedLog = (alias: string): string =>
  `(${alias}.is_error OR ${alias}.severity_number >= ${ERROR_SEVERITY})`;
