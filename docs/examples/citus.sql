-- Distributes the ledger over the workers of a Citus cluster: docs/ledger.md. Run it once on the coordinator, after
-- `sluice migrate` and before the daemons start. All other tables stay on the coordinator.
SELECT create_distributed_table('sluice.traces', 'trace_id');
SELECT create_distributed_table('sluice.replay_markers', 'key', colocate_with => 'none');
