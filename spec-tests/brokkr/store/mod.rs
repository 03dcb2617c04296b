//! Tests of the stores, run on every kind of database.

mod audit;
mod consistency;
mod durability;
mod failures;
mod fixtures;
mod generators;
mod idempotency;
mod objects;
mod plans;
mod purge;
mod refusals;
mod stacks;
mod templates;
mod upgrade;

macro_rules! on_each {
    ($($module:ident: $($name:ident)+;)+) => {
        mod sqlite {
            $($(
                #[test]
                fn $name() {
                    crate::databases::on_sqlite(super::$module::$name);
                }
            )+)+
        }
        mod memory {
            $($(
                #[test]
                fn $name() {
                    crate::databases::on_memory(super::$module::$name);
                }
            )+)+
        }
        mod postgres {
            $($(
                #[test]
                fn $name() {
                    crate::databases::on_postgres(super::$module::$name);
                }
            )+)+
        }
    };
}

on_each! {
    audit: changes_are_recorded_with_their_origin
        changes_that_fail_or_are_repeated_are_not_recorded
        the_trail_is_listed_page_by_page_and_by_object
        many_writers_leave_an_entry_for_every_change
        names_expiry_and_use_of_keys_are_kept
        an_expired_key_is_not_the_first_one;
    generators: generators_are_made_listed_and_changed
        names_of_live_generators_are_unique
        keys_are_found_until_they_are_revoked
        the_key_of_an_inactive_generator_is_not_found
        the_last_live_administrator_key_stays
        the_first_key_is_one_however_many_ask
        rotation_leaves_one_key
        rotations_at_the_same_time_leave_one_key
        deleting_a_generator_deletes_its_resources;
    templates: versions_count_from_one_for_each_owner_and_name
        numbers_of_deleted_versions_come_free_again
        an_expectation_that_fails_changes_nothing
        labels_and_annotations_are_carried_over_or_given
        lists_show_visible_rows_page_by_page
        searches_find_names_page_by_page
        sixteen_writers_leave_no_gap_and_no_duplicate
        one_of_several_conditional_writers_succeeds
        labels_of_versions
        annotations_of_versions
        templates_of_generators_that_are_not_there;
    stacks: stacks_are_made_listed_and_changed
        names_of_live_stacks_are_unique
        stacks_belong_to_live_generators
        a_stack_changed_meanwhile_is_not_overwritten
        a_deleted_stack_leaves_its_marker
        labels_of_stacks
        annotations_of_stacks;
    objects: objects_are_numbered_and_listed_newest_first
        an_instantiation_reads_its_template_and_stack
        objects_need_a_live_stack
        an_object_that_is_refused_leaves_others_whole
        provenance_outlives_its_object
        instances_are_the_newest_of_each_stack;
    purge: deleted_rows_are_removed_unless_an_object_needs_them
        rows_are_removed_in_batches
        old_entries_of_the_trail_are_removed_in_batches
        usage_counts_live_rows_and_bytes_of_a_generator;
    idempotency: a_repeated_request_is_carried_out_once
        a_token_of_another_request_is_refused
        a_failed_request_leaves_its_token_free
        tokens_expire_after_a_day
        the_same_request_at_the_same_time_is_carried_out_once;
    consistency: rows_come_back_as_they_went_in
        a_failure_undoes_its_own_request_only
        requests_that_are_given_up_leave_the_store_whole
        readers_see_acknowledged_writes
        writes_survive_reopening_the_store;
}
