//! Shards: several processes that stamp one fleet. The doc comments are help texts.

use std::path::Path;

use clap::Args;

use dropforge::bulk::{Plan, PlanDigest, PlanShard, Run, Shard};
use dropforge::diagnostics::{Code, Diagnostic, Result};

use crate::input::{InputFiles, is_dash};
use crate::usage::unfit_to;

/// The variable that holds the index of a pod of an Indexed Job.
const INDEX: &str = "JOB_COMPLETION_INDEX";

/// Options of shards.
#[derive(Debug, Args)]
#[command(next_help_heading = "Shards")]
pub(crate) struct ShardArgs {
    /// Stamp only the clusters of shard I of N (I from 0 to N-1), and leave the state to `--finish`
    ///
    /// A cluster belongs to a shard by a hash of its name. Shards can run at the same
    /// time and on several machines. One that was killed can be run again alone.
    #[arg(long, value_name = "I/N", conflicts_with_all = ["shards", "finish", "watch", "explain_plan"], hide_short_help = true)]
    shard: Option<Shard>,
    /// Stamp a shard of N whose index is in $JOB_COMPLETION_INDEX, as in an Indexed Job of Kubernetes
    #[arg(long, value_name = "N", conflicts_with_all = ["finish", "watch", "explain_plan"], hide_short_help = true)]
    shards: Option<u32>,
    /// When all N shards are done with these options: replace the state, and prune with `--prune`
    #[arg(long, value_name = "N", conflicts_with_all = ["watch", "explain_plan", "check", "diff", "dry_run"], hide_short_help = true)]
    finish: Option<u32>,
}

/// The part of a run that a process carries out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunPart {
    /// The whole fleet.
    All,
    /// A shard.
    Shard(Shard),
    /// The end of a run of this number of shards.
    Finish(u32),
}

impl ShardArgs {
    /// Returns `true` if one of these options is given.
    pub(crate) fn any(&self) -> bool {
        self.shard.is_some() || self.shards.is_some() || self.finish.is_some()
    }

    /// Returns the part of the run with `fleets` and the layout for one stream or not.
    ///
    /// # Errors
    /// `usage` for a shard that does not exist, and for standard input, a pipe or one stream.
    pub(crate) fn share(&self, fleets: &[String], is_stream: bool) -> Result<RunPart> {
        let (share, option) = match (self.shard, self.shards, self.finish) {
            (Some(shard), ..) => (RunPart::Shard(shard), "--shard"),
            (None, Some(count), _) => (RunPart::Shard(of_job(count, std::env::var(INDEX).ok())?), "--shards"),
            (None, None, Some(count)) => (RunPart::Finish(finished(count)?), "--finish"),
            (None, None, None) => return Ok(RunPart::All),
        };
        if is_stream {
            return Err(unfit_to(option, "`--layout single`").with_help("use `-o DIR`"));
        }
        let is_pipe = |fleet: &String| {
            let path = Path::new(fleet);
            is_dash(path) || std::fs::metadata(path).is_ok_and(|meta| !meta.is_file() && !meta.is_dir())
        };
        match fleets.iter().find(|fleet| is_pipe(fleet)) {
            Some(fleet) => Err(unfit_to(option, &format!("the fleet `{fleet}`: every shard reads the whole fleet"))
                .with_help("write the fleet to a file that all shards can read")),
            None => Ok(share),
        }
    }
}

/// Returns the shard of a pod.
fn of_job(count: u32, index: Option<String>) -> Result<Shard> {
    let Some(index) = index else {
        let error = Diagnostic::new(Code::Usage, format!("`--shards` needs the index of the shard in `{INDEX}`"));
        return Err(error.with_help("Indexed Jobs of Kubernetes set it; elsewhere use `--shard I/N`"));
    };
    let shard = index.parse().ok().and_then(|index| Shard::new(index, count));
    shard.ok_or_else(|| {
        let message = format!("there is no shard `{index}` of {count}");
        Diagnostic::new(Code::Usage, message)
            .with_note(format!("the index is the value of `{INDEX}`, and starts at 0"))
            .with_help("`--shards` has to be the number of completions of the Job, at most 100,000")
    })
}

fn finished(count: u32) -> Result<u32> {
    let error = || Diagnostic::new(Code::Usage, format!("there are no {count} shards")).with_help("1 to 100,000");
    Shard::new(0, count).map(|_| count).ok_or_else(error)
}

impl RunPart {
    /// Returns the digest of all inputs of a run: of `options`, of the contents of files read so far, and of what they make.
    /// `None` if it was not started.
    ///
    /// # Errors
    /// Errors of reading the fleet and schemas.
    pub(crate) fn digest(
        options: &[String],
        (run, plan): (&Run, &Plan),
        files: &mut InputFiles,
    ) -> Result<Option<PlanDigest>> {
        let Some(mut digest) = files.take_digest() else { return Ok(None) };
        // No argument has a NUL.
        digest.text(&options.join("\0"));
        digest.plan(plan);
        run.set.add_to_digest(&mut digest)?;
        digest.layers(&run.values);
        digest.fleet(&run.fleet)?;
        run.kinds.as_ref().map_or(Ok(()), |kinds| kinds.add_to_digest(&mut digest))?;
        Ok(Some(digest))
    }

    /// Returns the shard of a plan.
    pub(crate) fn of(self, plan: String) -> Option<PlanShard> {
        match self {
            RunPart::Shard(shard) => Some(PlanShard { plan, shard }),
            RunPart::All | RunPart::Finish(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_of_a_pod_is_that_of_its_shard() {
        let of = |count, index: Option<&str>| {
            of_job(count, index.map(str::to_owned)).map(|shard| shard.to_string()).map_err(|error| error.message)
        };
        assert_eq!(of(16, Some("15")), Ok("15/16".to_owned()));
        for (count, index) in [(16, Some("16")), (0, Some("0")), (16, Some("x")), (16, Some("")), (16, None)] {
            assert!(of(count, index).is_err(), "{count} {index:?}");
        }
        assert!(finished(0).is_err() && finished(100_001).is_err() && finished(16).is_ok());
    }
}
