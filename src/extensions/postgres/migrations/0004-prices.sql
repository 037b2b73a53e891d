-- One id may stand for every project and, with other figures, for single ones.
ALTER TABLE sluice.prices DROP CONSTRAINT prices_pkey;
CREATE UNIQUE INDEX prices_of_project ON sluice.prices (id, coalesce(project, ''));

-- Every replica reads them again when one changes.
CREATE FUNCTION sluice.notify_prices() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('sluice_prices', '');
  RETURN NULL;
END $$;
CREATE TRIGGER prices_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON sluice.prices
  FOR EACH STATEMENT EXECUTE FUNCTION sluice.notify_prices();
