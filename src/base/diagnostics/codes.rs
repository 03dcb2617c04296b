//! The registry of diagnostic codes. Released codes are never reused or renumbered.
//!
//! Ranges: `E01` syntax, `E02` names and lookups, `E03` values and operators, `E04` functions, `E05` includes and
//! inheritance, `E06` limits, `E07` intents and their parameters, `E08` inputs, `E09` files, plans and artifacts,
//! `E10` catalogs, `E11` object stores, registries and charts.

macro_rules! codes {
    ($($variant:ident $id:literal $name:literal $title:literal;)*) => {
        /// A stable diagnostic code, such as `E0201`, with a machine-readable name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = concat!("`", $id, "` `", $name, "`: ", $title, ".")] $variant,)*
        }

        impl Code {
            /// All codes in registry order.
            pub const ALL: &'static [Code] = &[$(Code::$variant,)*];

            /// Returns the id, such as `E0201`.
            pub fn id(self) -> &'static str {
                match self { $(Code::$variant => $id,)* }
            }

            /// Returns the number in the id, which artifacts store: 201.
            pub fn number(self) -> u32 {
                self.id().get(1..).and_then(|digits| digits.parse().ok()).unwrap_or(0)
            }

            /// Returns the code with the number `number`.
            #[doc(hidden)]
            pub fn from_number(number: u32) -> Option<Code> {
                let at = Self::ALL.binary_search_by_key(&number, |code| code.number()).ok()?;
                Self::ALL.get(at).copied()
            }

            /// Returns the code with the id or name `text`.
            ///
            /// ```
            /// use dropforge::diagnostics::Code;
            /// assert_eq!(Code::named("E0602"), Code::named(Code::named("E0602").unwrap().name()));
            /// assert_eq!(Code::named("E9999"), None);
            /// ```
            pub fn named(text: &str) -> Option<Code> {
                Self::ALL.iter().copied().find(|code| code.id() == text || code.name() == text)
            }

            /// Returns the machine-readable name, such as `limit.fuel`.
            pub fn name(self) -> &'static str {
                match self { $(Code::$variant => $name,)* }
            }

            /// Returns a short description.
            pub fn title(self) -> &'static str {
                match self { $(Code::$variant => $title,)* }
            }
        }
    };
}

codes! {
    UnexpectedToken      "E0101" "syntax.unexpected_token"     "an unexpected token";
    UnknownCharacter     "E0102" "syntax.unknown_character"    "an unknown character";
    Unterminated         "E0103" "syntax.unterminated"         "an unclosed tag, string or block";
    NumberOutOfRange     "E0104" "syntax.number_out_of_range"  "a literal number does not fit";
    MisplacedTag         "E0105" "syntax.misplaced_tag"        "a tag stands where it is not allowed";
    DuplicateDefinition  "E0106" "syntax.duplicate_definition" "a name is defined twice";
    NotUtf8              "E0107" "syntax.not_utf8"             "the source is not UTF-8";
    UnknownDirective     "E0108" "syntax.unknown_directive"    "unknown directive";
    BadDirective         "E0109" "syntax.bad_directive"        "a directive is not written correctly";
    MaybeExpression      "E0111" "syntax.maybe_expression"     "text that may be meant as an expression";
    MaybeText            "E0112" "syntax.maybe_text"           "an expression that may be meant as text";
    LineEndBehind        "E0113" "syntax.line_end_behind"      "a line end after an expression makes it text";

    UndefinedVariable    "E0201" "name.undefined_variable"     "a variable is not defined";
    BadIndex             "E0202" "name.bad_index"              "a key or index does not exist or cannot be used";
    UnknownAttribute     "E0203" "name.unknown_attribute"      "an attribute is not known yet";
    UngivenCondition     "E0204" "name.ungiven_condition"      "a condition tests a name that is never set";
    ReadElsewhere        "E0205" "name.read_elsewhere"         "a loop variable lacks a field that an input has";

    TypeMismatch         "E0301" "value.type_mismatch"         "an operator does not take this type";
    Arithmetic           "E0302" "value.arithmetic"            "a division by zero or a numeric overflow";
    NotIterable          "E0303" "value.not_iterable"          "a value cannot be looped over";
    Unfit                "E0304" "value.unfit"                 "a value does not fit the requested type";
    Assertion            "E0305" "value.assertion"             "an assertion does not hold";

    UnknownFunction      "E0401" "function.unknown"            "unknown function";
    MissingArgument      "E0402" "function.missing_argument"   "a required argument is not given";
    BadArgument          "E0403" "function.bad_argument"       "an argument has the wrong type or value";
    FunctionFailed       "E0404" "function.failed"             "a function reported an error";
    CapabilityOff        "E0405" "function.capability_off"     "a function is not allowed, or the build lacks a feature";

    UnknownTemplate      "E0501" "template.unknown"            "unknown template";
    UnknownMacro         "E0502" "template.unknown_macro"      "unknown macro";
    InheritanceCycle     "E0503" "template.inheritance_cycle"  "a template inherits from itself";
    BadInheritance       "E0504" "template.bad_inheritance"    "inheritance or `super()` is used in the wrong place";
    OutsideRoot          "E0505" "template.outside_root"       "an include leaves its root";
    IncludeCycle         "E0506" "template.include_cycle"      "a template includes itself";

    LimitSourceBytes     "E0601" "limit.source_bytes"          "a source is too long";
    LimitDepth           "E0602" "limit.depth"                 "brackets, blocks or values are nested too deep";
    LimitFuel            "E0603" "limit.fuel"                  "a render took too many steps";
    LimitMemory          "E0604" "limit.memory"                "a render needs too much memory";
    LimitOutputBytes     "E0605" "limit.output_bytes"          "an output is too long";
    LimitRecursion       "E0606" "limit.recursion"             "calls are nested too deep";
    LimitTemplates       "E0607" "limit.templates"             "a template reaches too many others";
    LimitCode            "E0608" "limit.code"                  "a template expands to too much code";
    LimitRegex           "E0609" "limit.regex"                 "a regular expression is too large";
    CorruptProgram       "E0610" "program.corrupt"             "the program is damaged";
    LimitCost            "E0611" "limit.cost"                  "an evaluation costs too much";
    LimitTime            "E0612" "limit.time"                  "a render took too long";

    TemplateMissingVariable    "E0701" "template_missing_variable"    "a referenced variable is not in its scope";
    TemplateInvalidSyntax      "E0702" "template_invalid_syntax"      "a malformed expression";
    TemplateNestedExpression   "E0703" "template_nested_expression"   "an expression inside an expression";
    TemplateInvalidIdentifier  "E0704" "template_invalid_identifier"  "a name that is not an identifier";
    TemplateDisallowedField    "E0705" "template_disallowed_field"    "an expression in a field that must be literal";
    TemplateUnsafeShellContext "E0706" "template_unsafe_shell_context" "an expression where quoting cannot protect it";
    IntentStructure            "E0711" "intent_structure"             "an invalid structure of an intent file";
    IntentRenderMode           "E0712" "intent_render_mode"           "a render mode that does not exist";
    IntentUnknownStep          "E0713" "intent_unknown_step"          "a step that the runbook does not have";
    ParameterDeclaration       "E0721" "parameter_declaration"        "an invalid declaration of a parameter";
    ParameterMissing           "E0722" "parameter_missing"            "a required parameter is not given";
    ParameterType              "E0723" "parameter_type"               "a parameter has the wrong type";
    ParameterNotAllowed        "E0724" "parameter_not_allowed"        "a parameter is not one of the declared values";
    ParameterUndeclared        "E0725" "parameter_undeclared"         "an input that is not a declared parameter";
    EnvironmentReference          "E0741" "environment_reference"             "an environment variable's name, left as text";
    LookalikeExpression           "E0742" "lookalike_expression"              "another language's expression, left as text";
    ShellExpressionInDoubleQuotes "E0743" "shell_expression_in_double_quotes" "a shell expression inside double quotes";
    ShellExpressionInSingleQuotes "E0744" "shell_expression_in_single_quotes" "a shell expression inside single quotes";
    ShellExpressionAfterBackslash "E0745" "shell_expression_after_backslash"  "a shell expression after a backslash";
    ShellExpressionInBackticks    "E0746" "shell_expression_in_backticks"     "a shell expression inside backticks";
    ShellExpressionInHeredoc      "E0747" "shell_expression_in_heredoc"       "a shell expression in a here-document";
    ShellExpressionInComment      "E0748" "shell_expression_in_comment"       "a shell expression in a comment";
    ShellExpressionInArithmetic   "E0749" "shell_expression_in_arithmetic"    "a shell expression in shell arithmetic";
    ShellExpressionMayBeOption    "E0750" "shell_expression_may_be_option"    "a value could be taken for an option";
    LiteralCommand                "E0751" "literal_command"                   "a command that inserts values without quotes";
    ControlCharacter              "E0752" "control_character"                 "a control character in literal text";
    UnreferenceableName           "E0753" "unreferenceable_name"              "a name that no expression can refer to";
    DuplicateStep                 "E0754" "duplicate_step"                    "two steps with the same name";
    ShellExpressionRunAsCode      "E0755" "shell_expression_run_as_code"      "a value that a shell runs as code";

    InputSyntax          "E0801" "input.syntax"                "cannot parse an input file";
    BadSet               "E0802" "input.bad_set"               "cannot parse a `--set` option";
    SetConflict          "E0803" "input.set_conflict"          "a `--set` path leads through a value that is not a map";
    BadFleet             "E0804" "input.bad_fleet"             "a fleet is not a list of maps";
    DuplicateKey         "E0805" "input.duplicate_key"         "a map has a key twice";
    InputStructure       "E0806" "input.structure"             "an input lacks what the command needs";
    InputType            "E0807" "input.type"                  "a value of an input has the wrong type";
    UnfitValues          "E0808" "input.schema"                "merged values do not fit their schema";
    UnreadValue          "E0809" "input.unread"                "a value that no template reads";
    KindChange           "E0810" "input.kind_change"           "a value replaces one of another kind";
    EncryptedInput       "E0811" "input.encrypted"             "an input file is encrypted";

    ReadFailed           "E0901" "file.read_failed"            "a file cannot be read";
    WriteFailed          "E0902" "file.write_failed"           "a file cannot be written";
    SymbolicLink         "E0903" "file.symbolic_link"          "an output would go through a symbolic link";
    OutputLocked         "E0904" "file.locked"                 "another run holds the output directory";
    ClosedPipe           "E0905" "file.closed_pipe"            "the reader of the output has closed the pipe";
    InvalidOutput        "E0906" "file.invalid_output"         "an output is not valid YAML or JSON";
    UnfitOutput          "E0907" "file.unfit_output"           "an output does not fit the schema of its kind";
    UnfitPatch           "E0908" "file.unfit_patch"            "a patch does not fit an object";
    NoTemplates          "E0911" "plan.no_templates"           "there is no template to render";
    BadOutputName        "E0912" "plan.bad_output_name"        "a name cannot be part of an output path";
    BadLayout            "E0913" "plan.bad_layout"             "a layout is invalid or a value for it is missing";
    DuplicateOutput      "E0914" "plan.duplicate_output"       "two outputs have the same path";
    CaseCollision        "E0915" "plan.case_collision"         "two output paths differ only in letter case";
    PrefixCollision      "E0916" "plan.prefix_collision"       "an output path is also a directory of another";
    DuplicateCluster     "E0917" "plan.duplicate_cluster"      "two clusters have the same name";
    UnnamedCluster       "E0918" "plan.unnamed_cluster"        "a cluster has no name";
    MassDelete           "E0919" "plan.mass_delete"            "pruning would delete most of the files";
    BadManifest          "E0920" "file.bad_manifest"           "cannot read the list of files of the last run";
    Usage                "E0921" "usage"                       "an option is used incorrectly";
    ForeignFile          "E0922" "plan.foreign_file"           "a file that dropforge did not write would be overwritten";
    MissingPart          "E0923" "plan.missing_part"           "a shard of the plan is not finished";
    NotAnArtifact        "E0931" "artifact.not_one"            "a file is not an artifact";
    ArtifactVersion      "E0932" "artifact.other_version"      "an artifact was compiled by another version";
    ArtifactDigest       "E0933" "artifact.digest"             "an artifact was changed after it was written";
    ArtifactEncoding     "E0934" "artifact.encoding"           "an artifact is truncated or damaged";
    ArtifactName         "E0935" "artifact.name"               "a name cannot be stored in an artifact";
    TestStructure        "E0941" "test.structure"              "a test file is not written correctly";
    TestFailed           "E0942" "test.failed"                 "an assertion of a test does not hold";
    SnapshotMissing      "E0943" "test.snapshot_missing"       "there is no snapshot to compare with";
    SnapshotObsolete     "E0944" "test.snapshot_obsolete"      "a snapshot that no test compares with";
    LowCoverage          "E0945" "test.low_coverage"           "tests cover too little of the templates";
    NotTranslated        "E0951" "init.not_translated"         "a part of an imported project is not translated";
    Internal             "E0999" "internal"                    "a bug in dropforge";

    CatalogRefused       "E1001" "catalog.refused"             "the catalog refuses a request";
    CatalogUnreachable   "E1002" "catalog.unreachable"         "a catalog cannot be reached";
    CatalogFinding       "E1003" "catalog.finding"             "a template of the catalog looks wrong";

    StoreUnreachable     "E1101" "store.unreachable"           "an object store or registry cannot be reached";
    StoreDenied          "E1102" "store.denied"                "an object store or registry denies access";
    StoreMissing         "E1103" "store.missing"               "an object, bucket or artifact does not exist";
    StoreChanged         "E1104" "store.changed"               "an object has changed since it was read";
    StoreFailed          "E1105" "store.failed"                "an object store or registry refuses a request";
    StoreLocked          "E1106" "store.locked"                "another run holds the lock of a prefix";
    LockLost             "E1107" "store.lock_lost"             "a run has lost the lock of its prefix";
    NoConditions         "E1108" "store.no_conditions"         "an object store has no conditional puts";
    BadUrl               "E1109" "store.bad_url"               "an invalid URL of a store or registry";
    WrongDigest          "E1110" "store.wrong_digest"          "content does not match its digest";
    NoChartVersion       "E1111" "charts.no_version"           "no version of a chart fits its range";
    StaleLock            "E1112" "charts.stale_lock"           "a lock does not fit the charts that are asked for";
    MissingChart         "E1113" "charts.missing"              "a chart of a lock is not on this machine";
    UnknownRepository    "E1114" "charts.unknown_repository"   "a repository of charts is not known";
}

impl Code {
    /// Returns `true` for errors in the text of a template, which it has whatever the inputs are.
    pub fn is_syntax(self) -> bool {
        self.name().starts_with("syntax.")
    }

    /// Returns `true` for exceeded limits, which are never absorbed.
    pub fn is_limit(self) -> bool {
        self.name().starts_with("limit.")
    }
}

#[cfg(test)]
mod tests {
    use super::Code;

    #[test]
    fn ids_and_names_are_unique_and_sorted() {
        let ids: Vec<_> = Code::ALL.iter().map(|code| code.id()).collect();
        let mut sorted = ids.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(ids, sorted);
        let mut names: Vec<_> = Code::ALL.iter().map(|code| code.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Code::ALL.len());
    }
}
